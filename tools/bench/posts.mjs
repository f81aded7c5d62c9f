import { measureAgainst } from './compare.mjs';
import { startBenchProcess } from './bench-process.mjs';

const CONCURRENCY = 64;
const SLICE = 1_000;

/** @typedef {{ ratio: number, ours: number, bare: number }} PostRound POSTs per second */

/**
 * Measures webhook deliveries without the database: check of the URL, headers and both signatures, POST, verdict; against a loop of
 * `undici.request` that sends the same bytes over as many connections.
 *
 * @param {{ rounds: number, posts: number, onRound: (text: string) => void }} options
 * @returns {Promise<PostRound[]>}
 */
export async function measurePosts({ posts, ...rest }) {
  const receiver = await startBenchProcess(new URL('./receiver-process.mjs', import.meta.url));
  const poster = await startBenchProcess(new URL('./post-process.mjs', import.meta.url));
  try {
    await poster.ask('open', { port: await receiver.ask('listen'), concurrency: CONCURRENCY });
    const options = { ...rest, warmUp: SLICE * 4, count: posts, slice: SLICE };
    return await measureAgainst(poster, 'bare', options);
  } finally {
    await Promise.all([poster.stop(), receiver.stop()]);
  }
}
