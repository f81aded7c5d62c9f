/**
 * The value below which a share of the values lies.
 *
 * @param {readonly number[]} values at least one
 * @param {number} share from 0 to 1
 */
export function quantile(values, share) {
  const sorted = [...values].sort((a, b) => a - b);
  const index = Math.min(Math.floor(sorted.length * share), sorted.length - 1);
  return /** @type {number} */ (sorted[index]);
}

/** @param {readonly number[]} values at least one */
export function median(values) {
  return quantile(values, 0.5);
}

/** A number rounded to about three significant digits. @param {number} value */
export function rounded(value) {
  if (value >= 100) return Math.round(value).toLocaleString('en-US');
  return value >= 10 ? value.toFixed(1) : value.toFixed(2);
}
