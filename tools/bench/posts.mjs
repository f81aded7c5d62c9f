import { measureBeside } from './beside.mjs';
import { startHelper } from './helper.mjs';

const AT_ONCE = 64;
const SLICE = 1_000;

/** @typedef {{ ratio: number, ours: number, bare: number }} PostRound POSTs a second */

/**
 * Measures deliveries of webhooks without the database: URL judged, headers and both signatures, POST, verdict; beside a loop of
 * `undici.request` that sends the same bytes over as many connections.
 *
 * @param {{ rounds: number, posts: number, onRound: (text: string) => void }} options
 * @returns {Promise<PostRound[]>}
 */
export async function measurePosts({ posts, ...rest }) {
  const receiver = await startHelper(new URL('./receiver-process.mjs', import.meta.url));
  const poster = await startHelper(new URL('./post-process.mjs', import.meta.url));
  try {
    await poster.ask('open', { port: await receiver.ask('listen'), atOnce: AT_ONCE });
    const options = { ...rest, warmUp: SLICE * 4, count: posts, slice: SLICE };
    return await measureBeside(poster, 'bare', options);
  } finally {
    await Promise.all([poster.stop(), receiver.stop()]);
  }
}
