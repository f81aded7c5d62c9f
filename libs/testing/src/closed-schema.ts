/**
 * A copy of a JSON schema with `additionalProperties: false` in every object that lists its properties; not in the parts of an `allOf`, each of which lists
 * only some properties of the same object.
 */
export function closedSchema(schema: unknown, isPart = false): unknown {
  if (typeof schema !== 'object' || schema === null) return schema;
  if (Array.isArray(schema)) return schema.map((one) => closedSchema(one, isPart));
  const inside = Object.fromEntries(
    Object.entries(schema).map(([name, value]) => [
      name,
      closedSchema(value, name === 'allOf' || (isPart && name !== 'properties')),
    ]),
  );
  return 'properties' in inside && !isPart ? { additionalProperties: false, ...inside } : inside;
}
