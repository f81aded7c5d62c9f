/** Whether a condition is true, by the rules of Handlebars: 0 and an empty array are false. */
export function isTruthy(value: unknown): boolean {
  return Array.isArray(value) ? value.length > 0 : Boolean(value);
}

/** Whether two values are equal; a number equals its text. */
export function isEqual(left: unknown, right: unknown): boolean {
  return left === right || (isScalar(left) && isScalar(right) && String(left) === String(right));
}

/** Negative, 0 or positive if `left` is less than, equal to or greater than `right`; NaN if they cannot be compared. */
export function compare(left: unknown, right: unknown): number {
  const [a, b] = [numeric(left), numeric(right)];
  if (!Number.isNaN(a) && !Number.isNaN(b)) return a - b || 0;
  if (typeof left !== 'string' || typeof right !== 'string') return Number.NaN;
  return left < right ? -1 : Number(left > right);
}

/** The value of a number or a decimal text; otherwise NaN. */
export function numeric(value: unknown): number {
  if (typeof value === 'number') return value;
  return typeof value === 'string' && /^\s*[+-]?\d+(?:\.\d+)?\s*$/.test(value) ? Number(value) : Number.NaN;
}

function isScalar(value: unknown): value is string | number {
  return typeof value === 'string' || typeof value === 'number';
}
