import { idFromUuid } from '@posthorn/kernel';
import { type DescribedClass, type JsonSchema, referenceTo } from './json-schema.ts';

const EXAMPLE_UUID = '0197b3c2-4d5e-7f60-8a9b-0c1d2e3f4a5b';

/** The 26 characters after the prefix of an id: base-32, and 130 bits of which two are not used. */
const ID_SUFFIX = '[0-7][0-9a-hjkmnp-tv-z]{25}';

/** An id with this prefix. */
export function idOf(prefix: string): JsonSchema {
  return {
    type: 'string',
    pattern: `^${prefix}_${ID_SUFFIX}$`,
    examples: [idFromUuid(prefix, EXAMPLE_UUID)],
  };
}

/** Any text. */
export const text: JsonSchema = { type: 'string' };

/** `true` or `false`. */
export const truth: JsonSchema = { type: 'boolean', examples: [true] };

/** How many there are. */
export const count: JsonSchema = { type: 'integer', minimum: 0 };

/** A point in time: ISO 8601, UTC, with milliseconds. */
export const time: JsonSchema = {
  type: 'string',
  format: 'date-time',
  pattern: '^\\d{4}-\\d{2}-\\d{2}T\\d{2}:\\d{2}:\\d{2}\\.\\d{3}Z$',
  examples: ['2030-01-31T09:30:00.000Z'],
};

/** An object with any keys and any JSON as values. */
export const anyObject: JsonSchema = { type: 'object', additionalProperties: true };

/** One of these words, the first of which is the example. */
export function wordOf(words: readonly string[]): JsonSchema {
  return { type: 'string', enum: [...words], examples: [words[0]] };
}

/** What the schema says, or `null`. */
export function nullable(schema: JsonSchema): JsonSchema {
  if (typeof schema['type'] !== 'string') return { anyOf: [schema, { type: 'null' }] };
  const words = schema['enum'] as unknown[] | undefined;
  return { ...schema, type: [schema['type'], 'null'], ...(words && { enum: [...words, null] }) };
}

/** An object with the fields of another answer class. */
export function objectOf(answerClass: DescribedClass): JsonSchema {
  return referenceTo(answerClass);
}

/** An array of what the schema or the answer class says. */
export function listOf(items: JsonSchema | DescribedClass): JsonSchema {
  return { type: 'array', items: typeof items === 'function' ? referenceTo(items) : items };
}
