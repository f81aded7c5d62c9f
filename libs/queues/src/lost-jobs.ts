import type { Queue } from 'bullmq';
import type { Redis } from './connections.ts';

/** Keys per SCAN step or script; Redis serves nobody else meanwhile. */
export const KEYS_PER_SCAN = 100;
/** The lists that grow with the backlog. */
const LONG_LISTS = ['wait', 'paused'];
/** Ids of a list per LRANGE. */
const IDS_PER_READ = 1_000;
/** List entries that one script may compare: about 10 ms. */
const MAX_COMPARISONS_PER_SCRIPT = 500_000;

/**
 * Deletes jobs that are in no list of their queue; returns how many. BullMQ's own `removeOrphanedJobs` also counts jobs that were completed and removed
 * before it came to them, so that every search of a busy queue would report losses.
 *
 * KEYS: the queue's own keys, in the order in which they are searched, then the jobs. ARGV: the number of the queue's own keys, then the ids of the jobs.
 */
const DELETE_LOST = `
local own = tonumber(ARGV[1])
local ask = { list = 'LPOS', zset = 'ZSCORE' }
local function isHeld(id)
  for j = 1, own do
    local command = ask[redis.call('TYPE', KEYS[j]).ok]
    if command and redis.call(command, KEYS[j], id) then return true end
  end
  return false
end
local deleted = 0
for i = own + 1, #KEYS do
  if redis.call('EXISTS', KEYS[i]) == 1 and not isHeld(ARGV[i - own + 1]) then
    deleted = deleted + redis.call('DEL', KEYS[i])
  end
end
return deleted`;

/**
 * Deletes jobs that are in no list of their queue any more, because Redis has evicted a list or somebody has deleted it. They will never be processed, and
 * while they exist every ring of the same lane is dropped as a duplicate of them.
 *
 * @returns how many were deleted
 */
export async function deleteLostJobs(redis: Redis, queue: Queue): Promise<number> {
  const unlisted = await jobIdsOf(redis, queue);
  let listed = 0;
  for (const list of LONG_LISTS) listed += await removeListed(redis, queue.toKey(list), unlisted);
  // What is left is lost, or was moved between lists meanwhile. The script searches the lists for each of them, which takes time in proportion to their length.
  const batchSize = Math.max(1, Math.min(KEYS_PER_SCAN, Math.floor(MAX_COMPARISONS_PER_SCRIPT / listed)));
  const ids = [...unlisted];
  let deleted = 0;
  for (let from = 0; from < ids.length; from += batchSize)
    deleted += await deleteLost(redis, queue, ids.slice(from, from + batchSize));
  return deleted;
}

async function jobIdsOf(redis: Redis, queue: Queue): Promise<Set<string>> {
  const jobs = queue.toKey('');
  const ids = new Set<string>();
  const batches: AsyncIterable<string[]> = redis.scanStream({ match: `${jobs}*`, count: KEYS_PER_SCAN });
  for await (const keys of batches)
    for (const key of keys) {
      const id = key.slice(jobs.length);
      // The id of a job has no colon; the key of something that belongs to a job, such as its lock, has one.
      if (!(id in queue.keys || id.includes(':'))) ids.add(id);
    }
  return ids;
}

/** Removes from `ids` those that are in a list. @returns the length of the list */
async function removeListed(redis: Redis, list: string, ids: Set<string>): Promise<number> {
  for (let from = 0; ; from += IDS_PER_READ) {
    const listed = await redis.lrange(list, from, from + IDS_PER_READ - 1);
    for (const id of listed) ids.delete(id);
    if (listed.length < IDS_PER_READ) return from + listed.length;
  }
}

async function deleteLost(redis: Redis, queue: Queue, ids: readonly string[]): Promise<number> {
  // The long lists last: most jobs that have left them are active by now.
  const names = Object.keys(queue.keys).filter((key) => !LONG_LISTS.includes(key));
  const own = [...names, ...LONG_LISTS].map((key) => queue.toKey(key));
  const keys = [...own, ...ids.map((id) => queue.toKey(id))];
  return (await redis.eval(DELETE_LOST, keys.length, ...keys, own.length, ...ids)) as number;
}
