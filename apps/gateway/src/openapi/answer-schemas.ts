import { idShape, type Shape, timeShape, wordShape } from '@posthorn/domain';
import { type DescribedClass, type JsonSchema, referenceTo, withNamedWords } from './json-schema.ts';

/** An id with this prefix. */
export function idOf(prefix: string): JsonSchema {
  return fieldOf(idShape(prefix, ''));
}

/** Any text. */
export const text: JsonSchema = { type: 'string' };

/** `true` or `false`. */
export const bool: JsonSchema = { type: 'boolean', examples: [true] };

/** A count. */
export const count: JsonSchema = { type: 'integer', minimum: 0 };

/** A point in time: ISO 8601, UTC, with milliseconds. */
export const time: JsonSchema = fieldOf(timeShape(''));

/** An object with any keys and any JSON as values. */
export const anyObject: JsonSchema = { type: 'object', additionalProperties: true };

/**
 * One of these words, the first of which is the example. More may be added, so any is valid.
 *
 * @param name of the schema of these words
 */
export function wordOf(name: string, words: readonly string[]): JsonSchema {
  return withNamedWords(fieldOf(wordShape(name, words, '', words[0]!)));
}

/** The schema's values, or `null`. */
export function nullable(schema: JsonSchema): JsonSchema {
  if (typeof schema['type'] !== 'string') return { anyOf: [schema, { type: 'null' }] };
  return { ...schema, type: [schema['type'], 'null'] };
}

/** An object with the fields of another answer class. */
export function objectOf(answerClass: DescribedClass): JsonSchema {
  return referenceTo(answerClass);
}

/** An array with items of a schema or an answer class. */
export function listOf(items: JsonSchema | DescribedClass): JsonSchema {
  return { type: 'array', items: typeof items === 'function' ? referenceTo(items) : items };
}

/** The schema of a domain shape, without its description, since each field has its own. */
function fieldOf({ schema, example }: Shape<string>): JsonSchema {
  const { description: _, ...rest } = schema;
  return { examples: [example], ...rest };
}
