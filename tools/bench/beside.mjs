/** @typedef {{ rounds: number, warmUp: number, count: number, slice: number, onRound: (text: string) => void }} BesideOptions */

/**
 * Measures ours beside a yardstick: a process that knows both is asked for them in turn, in slices so short that whatever else the machine
 * does slows both alike.
 *
 * @template {string} Yardstick
 * @param {import('./helper.mjs').Helper} helper says in how many milliseconds it has done `count` the way of its `ours`, and of its yardstick
 * @param {Yardstick} yardstick
 * @param {BesideOptions} options `count`: how many a round has
 * @returns {Promise<({ ratio: number, ours: number } & Record<Yardstick, number>)[]>} how many a second
 */
export async function measureBeside(helper, yardstick, { rounds, warmUp, count, slice, onRound }) {
  await measureRound(helper, yardstick, warmUp, slice);
  const results = [];
  for (let round = 1; round <= rounds; round += 1) {
    const result = await measureRound(helper, yardstick, count, slice);
    results.push(result);
    const { ratio, ours, [yardstick]: other } = result;
    onRound(`round ${round}: ${Math.round(ours)}/s to ${Math.round(other)}/s = ${ratio.toFixed(2)}`);
  }
  return results;
}

async function measureRound(helper, yardstick, count, slice) {
  /** @type {any} */
  const ms = { [yardstick]: 0, ours: 0 };
  const slices = Math.max(1, Math.round(count / slice));
  for (let done = 0; done < slices; done += 1) {
    for (const side of [yardstick, 'ours']) ms[side] += await helper.ask(side, { count: slice });
  }
  const perSecond = (side) => (slices * slice * 1_000) / ms[side];
  return { ratio: ms[yardstick] / ms.ours, ours: perSecond('ours'), [yardstick]: perSecond(yardstick) };
}
