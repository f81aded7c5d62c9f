/**
 * A copy of a JSON schema that takes only what exists today: objects that list their properties have no others, and words that may become more are those of
 * `x-known-values`.
 */
export function closedSchema(schema: unknown): unknown {
  if (typeof schema !== 'object' || schema === null) return schema;
  if (Array.isArray(schema)) return schema.map(closedSchema);
  const inside = Object.fromEntries(
    Object.entries(schema).map(([name, value]) => [name, closedSchema(value)]),
  );
  const { 'x-known-values': known } = inside;
  return {
    ...('properties' in inside && { additionalProperties: false }),
    // `type` decides whether it can be null.
    ...(known !== undefined && { anyOf: [known, { type: 'null' }] }),
    ...inside,
  };
}
