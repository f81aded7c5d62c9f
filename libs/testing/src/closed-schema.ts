/** A copy of a JSON schema with `additionalProperties: false` in every object that lists its properties. */
export function closedSchema(schema: unknown): unknown {
  if (typeof schema !== 'object' || schema === null) return schema;
  if (Array.isArray(schema)) return schema.map(closedSchema);
  const inside = Object.fromEntries(
    Object.entries(schema).map(([name, value]) => [name, closedSchema(value)]),
  );
  return 'properties' in inside ? { additionalProperties: false, ...inside } : inside;
}
