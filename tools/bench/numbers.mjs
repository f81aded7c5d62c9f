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

/** @typedef {{ medianMs: number, p99Ms: number }} Latency */

/** @param {readonly number[]} ms at least one @returns {Latency} */
export function latencyOf(ms) {
  return { medianMs: median(ms), p99Ms: quantile(ms, 0.99) };
}

/** The medians of several. @param {readonly Latency[]} latencies */
export function latencyText(latencies) {
  const of = (name) => rounded(median(latencies.map((latency) => latency[name])));
  return `${of('medianMs')} ms, p99 ${of('p99Ms')} ms`;
}

/** The share of what arrives that warms up both sides. */
const WARM_UP_SHARE = 0.25;

/**
 * How many have arrived per second after the warm-up.
 *
 * @param {Map<unknown, { at: number }>} arrivals in their order; `at` in ms
 */
export function paceOf(arrivals) {
  const times = [...arrivals.values()].map(({ at }) => at);
  const warmUp = Math.floor(times.length * WARM_UP_SHARE);
  return ((times.length - 1 - warmUp) * 1_000) / (Number(times.at(-1)) - Number(times[warmUp]));
}

/** A number rounded to about three significant digits. @param {number} value */
export function rounded(value) {
  if (value >= 100) return Math.round(value).toLocaleString('en-US');
  return value >= 10 ? value.toFixed(1) : value.toFixed(2);
}
