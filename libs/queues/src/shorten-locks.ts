import type { Queue } from 'bullmq';
import type { Redis } from './connections.ts';
import { LOCK_MS, STALLED_CHECK_MS } from './job-worker.ts';

/** KEYS: `stalled-check`, which suppresses the search for stalled jobs, and the list of active jobs. ARGV: the maximum lifetimes of that key and of a job's lock, and the key prefix of jobs. */
const SHORTEN = `
local function shorten(key, ms)
  local left = redis.call('PTTL', key)
  if left == -1 or left > tonumber(ms) then redis.call('PEXPIRE', key, ms) end
end
shorten(KEYS[1], ARGV[1])
for _, id in ipairs(redis.call('LRANGE', KEYS[2], 0, -1)) do shorten(ARGV[3] .. id .. ':lock', ARGV[2]) end`;

/**
 * Caps the remaining lifetime of a queue's locks at what a new lock gets. Redis stores the time at which a key expires: if its clock is set back by an hour,
 * the jobs of dead workers would stay locked, and not even be looked for, for an hour longer. A lock that never expires was written by something else. The
 * locks of live workers are renewed in time anyway.
 */
export async function shortenLocks(redis: Redis, queue: Queue): Promise<void> {
  const keys = [queue.toKey('stalled-check'), queue.toKey('active')];
  await redis.eval(SHORTEN, keys.length, ...keys, STALLED_CHECK_MS, LOCK_MS, queue.toKey(''));
}
