import { startHelper } from './helper.mjs';

const AT_ONCE = 64;
const WARM_UP = 3_000;
const COUNT = 20_000;

/**
 * Measures one round of webhook deliveries without the database: headers, both signatures, judgement of the URL, POST, verdict;
 * beside a loop of signed `undici.request`.
 *
 * @param {{ count?: number }} [options]
 * @returns {Promise<{ ratio: number, ours: number, bare: number }>} the rates are POSTs a second
 */
export async function measurePosts({ count = COUNT } = {}) {
  const receiver = await startHelper(new URL('./receiver-process.mjs', import.meta.url));
  const poster = await startHelper(new URL('./post-process.mjs', import.meta.url));
  try {
    const load = { port: await receiver.ask('listen'), atOnce: AT_ONCE };
    for (const side of ['bare', 'ours']) await poster.ask(side, { ...load, count: Math.min(count, WARM_UP) });
    const bare = await poster.ask('bare', { ...load, count });
    const ours = await poster.ask('ours', { ...load, count });
    return { ratio: ours / bare, ours, bare };
  } finally {
    await Promise.all([poster.stop(), receiver.stop()]);
  }
}
