import type { Variables } from './template-parts.ts';

/** Segments that need no brackets in a path. */
const BARE = /^[\p{L}\p{N}_$-]+$/u;
/** Only for paths from `pathText`, in which every bracket is closed: otherwise it takes quadratic time. */
// eslint-disable-next-line regexp/no-super-linear-move
const SEGMENT = /\[((?:\\.|[^\]\\])*)\]|[^.[\]]+/g;

/** A path in the syntax of templates: `user.name`, `order.[first item].price`. */
export function pathText(segments: readonly string[]): string {
  return segments.map((segment) => (BARE.test(segment) ? segment : bracketed(segment))).join('.');
}

function bracketed(segment: string): string {
  return `[${segment.replace(/[\\\]]/g, '\\$&')}]`;
}

/** The segments of a path from `pathText`, one by one: a look-up usually ends long before the end of a long path. */
export function* segmentsOf(path: string): Generator<string> {
  for (const [bare, inBrackets] of path.matchAll(SEGMENT))
    yield inBrackets === undefined ? bare : inBrackets.replace(/\\(.)/gs, '$1');
}

/** The value at a path, by own properties only; undefined if there is none. */
function valueAt(variables: unknown, segments: Iterable<string>): unknown {
  let value = variables;
  for (const segment of segments) {
    // `Object` makes an empty object of null and undefined.
    if (!Object.hasOwn(Object(value) as object, segment)) return undefined;
    value = (value as Record<string, unknown>)[segment];
  }
  return value;
}

/**
 * The paths at which `variables` has no value. `null` counts as missing; an empty text, 0 and `false` do not.
 */
export function missingVariables(paths: readonly string[], variables: Variables): string[] {
  return paths.filter((path) => (valueAt(variables, segmentsOf(path)) ?? null) === null);
}

/**
 * The variables, with defaults for missing ones (absent or `null`). Objects are merged recursively; arrays are not.
 */
export function withDefaults(defaults: Variables, variables: Variables): Variables {
  const merged = new Map<string, unknown>(Object.entries(variables));
  for (const [name, fallback] of Object.entries(defaults)) {
    const value = merged.get(name);
    if (value === undefined || value === null) merged.set(name, fallback);
    else if (isObject(value) && isObject(fallback)) merged.set(name, withDefaults(fallback, value));
  }
  // Not by assignment, because a name may be `__proto__`.
  return Object.fromEntries(merged);
}

function isObject(value: unknown): value is Variables {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
