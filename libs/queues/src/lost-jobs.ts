import type { Queue } from 'bullmq';
import type { Redis } from './connections.ts';

/** How many keys are looked at in one go, in which Redis serves nobody else. */
export const KEYS_IN_ONE_GO = 100;
/** The lists that are long when much waits. */
const LONG_LISTS = ['wait', 'paused'];
/** How many ids of a list are read in one go. */
const IDS_IN_ONE_GO = 1_000;
/** How many ids are compared in one go with what is searched for: about 10 ms. */
const COMPARED_IN_ONE_GO = 500_000;

/**
 * Deletes jobs that are in no list of their queue, and gives how many. BullMQ's own `removeOrphanedJobs` also counts those that were done, and gone,
 * before it came to them: each look at a busy queue would report losses.
 *
 * KEYS: all of a queue's own, in the order in which they are searched, then the jobs. ARGV: how many are its own, then the jobs' ids.
 */
const FORGET_LOST = `
local own = tonumber(ARGV[1])
local ask = { list = 'LPOS', zset = 'ZSCORE' }
local function isHeld(id)
  for j = 1, own do
    local command = ask[redis.call('TYPE', KEYS[j]).ok]
    if command and redis.call(command, KEYS[j], id) then return true end
  end
  return false
end
local forgotten = 0
for i = own + 1, #KEYS do
  if redis.call('EXISTS', KEYS[i]) == 1 and not isHeld(ARGV[i - own + 1]) then
    forgotten = forgotten + redis.call('DEL', KEYS[i])
  end
end
return forgotten`;

/**
 * Forgets jobs that are in no list any more, because Redis has evicted a list or somebody has deleted it, and gives how many: they will never be served, and as
 * long as they exist a ring of the same lane counts as a duplicate of them.
 */
export async function forgetLostJobs(redis: Redis, queue: Queue): Promise<number> {
  const unlisted = await jobsOf(redis, queue);
  let listed = 0;
  for (const list of LONG_LISTS) listed += await strikeOut(redis, queue.toKey(list), unlisted);
  // Only these are searched for, which takes as long as the lists are: they were taken from one meanwhile, or are lost.
  const atOnce = Math.max(1, Math.min(KEYS_IN_ONE_GO, Math.floor(COMPARED_IN_ONE_GO / listed)));
  const ids = [...unlisted];
  let forgotten = 0;
  for (let from = 0; from < ids.length; from += atOnce)
    forgotten += await forgetLost(redis, queue, ids.slice(from, from + atOnce));
  return forgotten;
}

/** The ids of all jobs of a queue. */
async function jobsOf(redis: Redis, queue: Queue): Promise<Set<string>> {
  const jobs = queue.toKey('');
  const ids = new Set<string>();
  const looks: AsyncIterable<string[]> = redis.scanStream({ match: `${jobs}*`, count: KEYS_IN_ONE_GO });
  for await (const keys of looks)
    for (const key of keys) {
      const id = key.slice(jobs.length);
      // The id of a job has no colon; the key of something that belongs to a job, such as its lock, has one.
      if (!(id in queue.keys || id.includes(':'))) ids.add(id);
    }
  return ids;
}

/** Strikes out of some ids those in a list, and gives how many it holds. */
async function strikeOut(redis: Redis, list: string, ids: Set<string>): Promise<number> {
  for (let from = 0; ; from += IDS_IN_ONE_GO) {
    const listed = await redis.lrange(list, from, from + IDS_IN_ONE_GO - 1);
    for (const id of listed) ids.delete(id);
    if (listed.length < IDS_IN_ONE_GO) return from + listed.length;
  }
}

async function forgetLost(redis: Redis, queue: Queue, ids: readonly string[]): Promise<number> {
  // The long lists last: most that were taken from them are in work.
  const names = Object.keys(queue.keys).filter((key) => !LONG_LISTS.includes(key));
  const own = [...names, ...LONG_LISTS].map((key) => queue.toKey(key));
  const keys = [...own, ...ids.map((id) => queue.toKey(id))];
  return (await redis.eval(FORGET_LOST, keys.length, ...keys, own.length, ...ids)) as number;
}
