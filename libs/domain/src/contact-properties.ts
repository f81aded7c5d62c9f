import { canonicalJson, type JsonObject, type JsonValue } from './canonical-json.ts';
import { type Size, SIZES } from './limits.ts';

/** What a contact's properties become; or which size they would exceed, and how large they would be. */
export type MergedProperties =
  { readonly properties: JsonObject } | { readonly exceeded: Size; readonly amount: number };

/**
 * Properties after a change: the keys that are given replace, those given as null are removed, the others stay. What a contact
 * has is bounded as a whole, not only what one change brings.
 */
export function mergeProperties(current: JsonObject, given: JsonObject): MergedProperties {
  const members = Object.entries({ ...current, ...given }).filter(([, value]) => value !== null);
  const properties: JsonObject = Object.fromEntries(members);
  const bytes = Buffer.byteLength(JSON.stringify(properties));
  const { contactPropertyKeys, contactProperties } = SIZES;
  if (members.length > contactPropertyKeys.max)
    return { exceeded: contactPropertyKeys, amount: members.length };
  if (bytes > contactProperties.max) return { exceeded: contactProperties, amount: bytes };
  return { properties };
}

/**
 * What makes `after` out of `before`: each key whose value differs, with its new value, or null when it is gone. Undefined when
 * both mean the same.
 */
export function changesBetween(before: JsonObject, after: JsonObject): JsonObject | undefined {
  const keys = new Set([...Object.keys(before), ...Object.keys(after)]);
  const changes = [...keys]
    .filter((key) => !means(valueAt(before, key), valueAt(after, key)))
    .map((key): [string, JsonValue] => [key, valueAt(after, key) ?? null]);
  return changes.length === 0 ? undefined : Object.fromEntries(changes);
}

/** `constructor` and the like are keys as others are. */
function valueAt(object: JsonObject, key: string): JsonValue | undefined {
  return Object.hasOwn(object, key) ? object[key] : undefined;
}

function means(a: JsonValue | undefined, b: JsonValue | undefined): boolean {
  // What a change leaves alone is the same value, and most is: 64 KiB need not be put in order to see that.
  if (a === b || a === undefined || b === undefined) return a === b;
  return canonicalJson(a) === canonicalJson(b);
}
