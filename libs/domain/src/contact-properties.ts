import { canonicalJson, type JsonObject, type JsonValue } from './canonical-json.ts';
import { type Size, SIZES } from './limits.ts';

/** A size limit that properties would exceed, and how large they would be. */
export interface ExceededSize {
  readonly size: Size;
  readonly amount: number;
}

/** The merged properties of a contact, or the size limit that they would exceed. */
type MergedProperties = { readonly properties: JsonObject } | { readonly exceeded: ExceededSize };

/**
 * Applies a change to properties: given keys are replaced, those given as null are removed, all others are kept. The size limits
 * apply to the result, not only to the change.
 */
export function mergeProperties(current: JsonObject, given: JsonObject): MergedProperties {
  const members = Object.entries({ ...current, ...given }).filter(([, value]) => value !== null);
  const properties: JsonObject = Object.fromEntries(members);
  const bytes = Buffer.byteLength(JSON.stringify(properties));
  const { contactPropertyKeys, contactProperties } = SIZES;
  if (members.length > contactPropertyKeys.max)
    return { exceeded: { size: contactPropertyKeys, amount: members.length } };
  if (bytes > contactProperties.max) return { exceeded: { size: contactProperties, amount: bytes } };
  return { properties };
}

/**
 * The change that leads from `before` to `after`: each key whose value differs, with its new value, or null if it was removed.
 * Undefined when they are equal.
 */
export function changesBetween(before: JsonObject, after: JsonObject): JsonObject | undefined {
  const keys = new Set([...Object.keys(before), ...Object.keys(after)]);
  const changes = [...keys]
    .filter((key) => !areEqual(valueAt(before, key), valueAt(after, key)))
    .map((key): [string, JsonValue] => [key, valueAt(after, key) ?? null]);
  return changes.length === 0 ? undefined : Object.fromEntries(changes);
}

/** Own keys only, so that `constructor` and the like are ordinary keys. */
function valueAt(object: JsonObject, key: string): JsonValue | undefined {
  return Object.hasOwn(object, key) ? object[key] : undefined;
}

function areEqual(a: JsonValue | undefined, b: JsonValue | undefined): boolean {
  // Most values are unchanged and identical; this saves serialising up to 64 KiB.
  if (a === b || a === undefined || b === undefined) return a === b;
  return canonicalJson(a) === canonicalJson(b);
}
