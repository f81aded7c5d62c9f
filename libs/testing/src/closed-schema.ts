/** A JSON schema with one thing added: an object holds nothing that the schema does not name. */
export function closedSchema(schema: unknown): unknown {
  if (typeof schema !== 'object' || schema === null) return schema;
  if (Array.isArray(schema)) return schema.map(closedSchema);
  const inside = Object.fromEntries(
    Object.entries(schema).map(([name, value]) => [name, closedSchema(value)]),
  );
  return 'properties' in inside ? { additionalProperties: false, ...inside } : inside;
}
