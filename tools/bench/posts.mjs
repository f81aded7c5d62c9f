import { startHelper } from './helper.mjs';

const AT_ONCE = 64;
/** Both sides in turn, in slices so short that whatever else the machine does slows both alike. */
const SLICE = 1_000;
const SIDES = /** @type {const} */ (['bare', 'ours']);

/** @typedef {{ ratio: number, ours: number, bare: number }} PostRound POSTs a second */

/**
 * Measures deliveries of webhooks without the database: URL judged, headers and both signatures, POST, verdict; beside a loop of
 * `undici.request` that sends the same bytes over as many connections.
 *
 * @param {{ rounds: number, posts: number, onRound: (text: string) => void }} options
 * @returns {Promise<PostRound[]>}
 */
export async function measurePosts({ rounds, posts, onRound }) {
  const receiver = await startHelper(new URL('./receiver-process.mjs', import.meta.url));
  const poster = await startHelper(new URL('./post-process.mjs', import.meta.url));
  try {
    await poster.ask('open', { port: await receiver.ask('listen'), atOnce: AT_ONCE });
    // For the compiler.
    await measureRound(poster, SLICE * 4);
    const results = [];
    for (let round = 1; round <= rounds; round += 1) {
      const { ratio, ours, bare } = await measureRound(poster, posts);
      results.push({ ratio, ours, bare });
      onRound(`round ${round}: ${Math.round(ours)}/s to ${Math.round(bare)}/s = ${ratio.toFixed(2)}`);
    }
    return results;
  } finally {
    await Promise.all([poster.stop(), receiver.stop()]);
  }
}

/** @param {import('./helper.mjs').Helper} poster @param {number} posts */
async function measureRound(poster, posts) {
  const ms = { bare: 0, ours: 0 };
  const slices = Math.max(1, Math.round(posts / SLICE));
  for (let slice = 0; slice < slices; slice += 1) {
    for (const side of SIDES) ms[side] += await poster.ask(side, { count: SLICE });
  }
  const perSecond = (side) => (slices * SLICE * 1_000) / ms[side];
  return { ratio: ms.bare / ms.ours, ours: perSecond('ours'), bare: perSecond('bare') };
}
