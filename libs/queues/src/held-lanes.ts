import type { Queue } from 'bullmq';
import type { Redis } from './connections.ts';
import { KEYS_PER_SCAN } from './lost-jobs.ts';

/**
 * Deletes deduplication keys that do not point to an unfinished job of their own, so that their lanes can be rung again; returns how many. Two cases need no
 * care here: where the job is gone, BullMQ frees the key itself (unless somebody has made it expire), and jobs in no list were deleted before. So the lists,
 * which may be long, are not searched.
 *
 * KEYS: deduplication keys. ARGV: the key prefixes of jobs and of deduplication keys.
 */
const FREE_LANES = `
local function isHeld(key)
  if redis.call('TYPE', key).ok ~= 'string' then return false end
  local job = ARGV[1] .. redis.call('GET', key)
  if redis.call('EXISTS', job) == 0 then return redis.call('PTTL', key) == -1 end
  local fields = redis.pcall('HMGET', job, 'deid', 'finishedOn')
  return fields[1] == string.sub(key, #ARGV[2] + 1) and not fields[2]
end
local freed = 0
for _, key in ipairs(KEYS) do
  if not isHeld(key) then freed = freed + redis.call('DEL', key) end
end
return freed`;

/**
 * Frees lanes whose deduplication key was overwritten: BullMQ rejects their rings, or drops them as duplicates of a job that is never processed.
 *
 * @returns how many were freed
 */
export async function freeHeldLanes(redis: Redis, queue: Queue): Promise<number> {
  const [jobs, lanes] = [queue.toKey(''), queue.toKey('de:')];
  let freed = 0;
  const batches: AsyncIterable<string[]> = redis.scanStream({ match: `${lanes}*`, count: KEYS_PER_SCAN });
  for await (const keys of batches)
    if (keys.length > 0) freed += (await redis.eval(FREE_LANES, keys.length, ...keys, jobs, lanes)) as number;
  return freed;
}
