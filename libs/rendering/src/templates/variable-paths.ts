import type { Variables } from './template-parts.ts';

/** What can stand in a path as it is; any other segment is put into brackets. */
const BARE = /^[\p{L}\p{N}_$-]+$/u;
/** Of paths that `pathText` wrote, in which every bracket is closed: with others it would take the square of the time. */
// eslint-disable-next-line regexp/no-super-linear-move
const SEGMENT = /\[((?:\\.|[^\]\\])*)\]|[^.[\]]+/g;

/** A path as people write it in a template: `user.name`, `order.[first item].price`. */
export function pathText(segments: readonly string[]): string {
  return segments.map((segment) => (BARE.test(segment) ? segment : bracketed(segment))).join('.');
}

function bracketed(segment: string): string {
  return `[${segment.replace(/[\\\]]/g, '\\$&')}]`;
}

/** The segments of a path that `pathText` wrote. */
export function segmentsOf(path: string): string[] {
  return [...path.matchAll(SEGMENT)].map(([bare, inBrackets]) =>
    inBrackets === undefined ? bare : inBrackets.replace(/\\(.)/gs, '$1'),
  );
}

/** What lies at a path, by own properties only; undefined where there is nothing. */
function valueAt(variables: unknown, segments: readonly string[]): unknown {
  let value = variables;
  for (const segment of segments) {
    if (value === null || value === undefined || !Object.hasOwn(Object(value) as object, segment))
      return undefined;
    value = (value as Record<string, unknown>)[segment];
  }
  return value;
}

/**
 * The paths among `paths` at which `variables` has nothing. `null` is nothing; an empty text, 0 and `false` are something.
 */
export function missingVariables(paths: readonly string[], variables: Variables): string[] {
  return paths.filter((path) => (valueAt(variables, segmentsOf(path)) ?? null) === null);
}

/**
 * The variables with the defaults where they have nothing (absent or `null`). Objects are filled member by member; an
 * array is taken whole.
 */
export function withDefaults(defaults: Variables, variables: Variables): Variables {
  const filled = new Map<string, unknown>(Object.entries(variables));
  for (const [name, fallback] of Object.entries(defaults)) {
    const value = filled.get(name);
    if (value === undefined || value === null) filled.set(name, fallback);
    else if (isObject(value) && isObject(fallback)) filled.set(name, withDefaults(fallback, value));
  }
  // Not by assignment: a name may be `__proto__`.
  return Object.fromEntries(filled);
}

function isObject(value: unknown): value is Variables {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
