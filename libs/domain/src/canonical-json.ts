/** A value that JSON can represent. */
export type JsonValue = string | number | boolean | null | readonly JsonValue[] | JsonObject;

export interface JsonObject {
  readonly [key: string]: JsonValue;
}

/**
 * The canonical form of a JSON value (RFC 8785): no white space, keys in the order of their UTF-16 code
 * units, numbers as ECMAScript prints them. A member whose value is undefined is left out.
 *
 * @param value a parsed JSON value; its depth must be bounded already
 * @throws TypeError for what JSON cannot represent (a function, a bigint, NaN, an infinity)
 */
export function canonicalJson(value: unknown): string {
  if (typeof value === 'object' && value !== null) {
    return Array.isArray(value) ? canonicalArray(value) : canonicalObject(value as Record<string, unknown>);
  }
  if (typeof value === 'number' && !Number.isFinite(value))
    throw new TypeError(`${value} has no place in JSON`);
  if (
    typeof value === 'string' ||
    typeof value === 'number' ||
    typeof value === 'boolean' ||
    value === null
  ) {
    return JSON.stringify(value);
  }
  throw new TypeError(`a ${typeof value} has no place in JSON`);
}

function canonicalArray(items: readonly unknown[]): string {
  return `[${items.map((item) => canonicalJson(item)).join(',')}]`;
}

function canonicalObject(object: Record<string, unknown>): string {
  const members: string[] = [];
  for (const key of Object.keys(object).sort()) {
    const value = object[key];
    if (value !== undefined) members.push(`${JSON.stringify(key)}:${canonicalJson(value)}`);
  }
  return `{${members.join(',')}}`;
}
