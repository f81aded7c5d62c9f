import type { Queue } from 'bullmq';
import type { Redis } from './connections.ts';
import { LOCK_MS, STALLED_CHECK_MS } from './job-worker.ts';

/** KEYS: what keeps workers from looking for the jobs of dead ones, and what is being done. ARGV: how long that and a lock may last, and what keys of jobs begin with. */
const SHORTEN = `
local function shorten(key, ms)
  local left = redis.call('PTTL', key)
  if left == -1 or left > tonumber(ms) then redis.call('PEXPIRE', key, ms) end
end
shorten(KEYS[1], ARGV[1])
for _, id in ipairs(redis.call('LRANGE', KEYS[2], 0, -1)) do shorten(ARGV[3] .. id .. ':lock', ARGV[2]) end`;

/**
 * Lets no lock of a queue last longer than one does when it is taken. Redis notes the moment at which a key ends: when its clock is set back by an hour, what
 * dead workers hold would not be looked for until an hour later, and be held for as long. What never ends was written by something else, and would be held for
 * ever. The lock of a living one is renewed in time.
 */
export async function shortenLocks(redis: Redis, queue: Queue): Promise<void> {
  const keys = [queue.toKey('stalled-check'), queue.toKey('active')];
  await redis.eval(SHORTEN, keys.length, ...keys, STALLED_CHECK_MS, LOCK_MS, queue.toKey(''));
}
