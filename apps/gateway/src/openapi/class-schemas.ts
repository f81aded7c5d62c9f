import { describedFields, isAnswerClass, type DescribedField } from './described-fields.ts';
import type { Part } from './document-types.ts';
import {
  type DescribedClass,
  type JsonSchema,
  referredClass,
  referredName,
  schemaNamed,
} from './json-schema.ts';

/** The schema of a request or answer class. Only requests forbid additional properties. */
function schemaOfClass(described: DescribedClass): JsonSchema {
  const fields = describedFields(described);
  const required = fields.filter(({ isRequired }) => isRequired).map(({ field }) => field);
  return {
    type: 'object',
    properties: Object.fromEntries(fields.map((field) => [field.field, schemaOfField(field)])),
    ...(required.length > 0 && { required }),
    ...(!isAnswerClass(described) && { additionalProperties: false }),
  };
}

/** The schema of a field, with its description, default and example. */
export function schemaOfField({ schema, sentence, default: value, example }: DescribedField): JsonSchema {
  return {
    ...schema,
    description: sentence,
    ...(value !== undefined && { default: value }),
    ...(example !== undefined && { examples: [example, ...knownWords(schema, example)] }),
  };
}

/** The other words of a field that is one: readers of generated code see them beside the field. */
function knownWords(schema: JsonSchema, example: unknown): unknown[] {
  if (!('x-known-values' in schema)) return [];
  return (schema['examples'] as unknown[]).filter((word) => word !== example);
}

/** The schemas of all classes, and all that were given names, to which the parts of a document refer, transitively, by name. */
export function referredSchemas(parts: unknown): Record<string, JsonSchema> {
  const found = new Map<string, JsonSchema>();
  const pending = [...referencesIn(parts)];
  for (let reference = pending.pop(); reference !== undefined; reference = pending.pop()) {
    const name = referredName(reference)!;
    const described = referredClass(reference);
    const schema = described === undefined ? schemaNamed(name) : schemaOfClass(described);
    if (found.has(name) || schema === undefined) continue;
    found.set(name, schema);
    pending.push(...referencesIn(schema));
  }
  return Object.fromEntries([...found].sort(([a], [b]) => (a < b ? -1 : 1)));
}

function* referencesIn(part: unknown): Generator<JsonSchema> {
  if (typeof part !== 'object' || part === null) return;
  if (referredName(part as Part) !== undefined) yield part as Part;
  for (const value of Object.values(part)) yield* referencesIn(value);
}
