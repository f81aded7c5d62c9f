import { describedFields, isAnswerClass, type DescribedField } from './described-fields.ts';
import type { Part } from './document-types.ts';
import { type DescribedClass, type JsonSchema, referredClass } from './json-schema.ts';

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
    ...(example !== undefined && { examples: [example] }),
  };
}

/** The schemas of all classes that the parts of a document refer to, transitively, by name. */
export function referredSchemas(parts: unknown): Record<string, JsonSchema> {
  const found = new Map<string, JsonSchema>();
  const pending = [...referencesIn(parts)];
  for (let described = pending.pop(); described !== undefined; described = pending.pop()) {
    if (found.has(described.name)) continue;
    const schema = schemaOfClass(described);
    found.set(described.name, schema);
    pending.push(...referencesIn(schema));
  }
  return Object.fromEntries([...found].sort(([a], [b]) => (a < b ? -1 : 1)));
}

function* referencesIn(part: unknown): Generator<DescribedClass> {
  if (typeof part !== 'object' || part === null) return;
  const described = referredClass(part as Part);
  if (described !== undefined) yield described;
  for (const value of Object.values(part)) yield* referencesIn(value);
}
