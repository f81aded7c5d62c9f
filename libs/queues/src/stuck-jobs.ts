import type { Queue } from 'bullmq';
import type { Redis } from './connections.ts';

/** How many of the next waiting jobs are checked each time. */
const NEXT_JOBS = 100;

/** A job that has stalled this often is deleted. Where only its workers died, its lane is rung again. */
const MAX_STALLS = 3;

/**
 * Deletes active jobs, and next waiting ones, that no worker can begin; returns how many: their JSON is broken, or they have stalled again and again, for
 * instance because their JSON is valid only for Lua. KEYS: the lists of active and of waiting jobs. ARGV: the key prefix of jobs, how many waiting ones to
 * check, and how often a job may stall. They are removed searching from the tail, where the next ones are: from the head, a hundred took 0.2 s in a list of
 * 100,000.
 */
const DELETE_STUCK = `
local function isBroken(id)
  local fields = redis.pcall('HMGET', ARGV[1] .. id, 'stc', 'data', 'opts', 'progress')
  if fields.err then return true end
  local stalls = table.remove(fields, 1) or '0'
  for _, text in ipairs(fields) do
    if text and not pcall(cjson.decode, text) then return true end
  end
  return not string.find(stalls, '^%d+$') or tonumber(stalls) >= tonumber(ARGV[3])
end
local deleted = 0
for i, first in ipairs({ 0, -tonumber(ARGV[2]) }) do
  for _, id in ipairs(redis.call('LRANGE', KEYS[i], first, -1)) do
    if isBroken(id) then
      redis.call('LREM', KEYS[i], -1, id)
      deleted = deleted + redis.call('DEL', ARGV[1] .. id)
    end
  end
end
return deleted`;

/**
 * Deletes jobs that BullMQ cannot pass to a worker: it leaves them in place and retries each, so that a dozen of them would block all others.
 *
 * @returns how many were deleted
 */
export async function deleteStuckJobs(redis: Redis, queue: Queue): Promise<number> {
  const keys = [queue.toKey('active'), queue.toKey('wait')];
  return (await redis.eval(
    DELETE_STUCK,
    keys.length,
    ...keys,
    queue.toKey(''),
    NEXT_JOBS,
    MAX_STALLS,
  )) as number;
}
