/** What stands for nothing when it is asked about, as Handlebars has it: also 0 and an empty array. */
export function isTruthy(value: unknown): boolean {
  return Array.isArray(value) ? value.length > 0 : Boolean(value);
}

/** Whether two values are the same; a number is the same as the text that looks like it. */
export function isEqual(left: unknown, right: unknown): boolean {
  return left === right || (isScalar(left) && isScalar(right) && String(left) === String(right));
}

/** Below 0, 0 or above 0 as `left` comes before, with or after `right`; NaN where they cannot be compared. */
export function compare(left: unknown, right: unknown): number {
  const [a, b] = [numeric(left), numeric(right)];
  if (!Number.isNaN(a) && !Number.isNaN(b)) return a - b || (a === b ? 0 : Number.NaN);
  if (typeof left !== 'string' || typeof right !== 'string') return Number.NaN;
  return left < right ? -1 : Number(left > right);
}

/** A number, or a text that is written as one; else NaN. */
export function numeric(value: unknown): number {
  if (typeof value === 'number') return value;
  return typeof value === 'string' && /^\s*[+-]?\d+(?:\.\d+)?\s*$/.test(value) ? Number(value) : Number.NaN;
}

function isScalar(value: unknown): value is string | number {
  return typeof value === 'string' || typeof value === 'number';
}
