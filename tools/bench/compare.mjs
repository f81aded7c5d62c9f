/** @typedef {{ rounds: number, warmUp: number, count: number, slice: number, onRound: (text: string) => void }} ComparisonOptions */

/**
 * Measures Posthorn's implementation against a baseline: one process runs both alternately, in slices so short that any other load on the
 * machine slows both alike.
 *
 * @template {string} Baseline
 * @param {import('./bench-process.mjs').BenchProcess} benchProcess answers `ours` and the baseline's name with the milliseconds that `count` operations took
 * @param {Baseline} baseline
 * @param {ComparisonOptions} options `warmUp`, `count`, `slice`: numbers of operations
 * @returns {Promise<({ ratio: number, ours: number } & Record<Baseline, number>)[]>} operations per second
 */
export async function measureAgainst(benchProcess, baseline, { rounds, warmUp, count, slice, onRound }) {
  await measureRound(benchProcess, baseline, warmUp, slice);
  const results = [];
  for (let round = 1; round <= rounds; round += 1) {
    const result = await measureRound(benchProcess, baseline, count, slice);
    results.push(result);
    const { ratio, ours, [baseline]: other } = result;
    onRound(`round ${round}: ${Math.round(ours)}/s to ${Math.round(other)}/s = ${ratio.toFixed(2)}`);
  }
  return results;
}

async function measureRound(benchProcess, baseline, count, slice) {
  /** @type {any} */
  const ms = { [baseline]: 0, ours: 0 };
  const slices = Math.max(1, Math.round(count / slice));
  for (let done = 0; done < slices; done += 1) {
    for (const side of [baseline, 'ours']) ms[side] += await benchProcess.ask(side, { count: slice });
  }
  const perSecond = (side) => (slices * slice * 1_000) / ms[side];
  return { ratio: ms[baseline] / ms.ours, ours: perSecond('ours'), [baseline]: perSecond(baseline) };
}
