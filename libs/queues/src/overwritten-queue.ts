import { QueueKeys } from 'bullmq';
import type { Redis } from './connections.ts';
import type { QueueName } from './jobs.ts';

/** The Redis type of each of a queue's own keys, by BullMQ's names for them. */
const TYPE_OF_KEY = {
  'wait': 'list',
  'active': 'list',
  'paused': 'list',
  'delayed': 'zset',
  'prioritized': 'zset',
  'completed': 'zset',
  'failed': 'zset',
  'repeat': 'zset',
  'marker': 'zset',
  'stalled': 'set',
  'events': 'stream',
  'meta': 'hash',
  'id': 'string',
  'stalled-check': 'string',
} as const;

/** Whether some key has the wrong type, or a counter of BullMQ's is not a usable number. KEYS: the keys. ARGV: their types, in the same order. */
const IS_OVERWRITTEN = `
local function counted(key, type)
  if type == 'string' then return redis.call('GET', key) end
  if type == 'hash' then return redis.call('HGET', key, 'opts.maxLenEvents') or '0' end
  if type ~= 'stream' then return '0' end
  local about = redis.call('XINFO', 'STREAM', key)
  for i = 1, #about, 2 do
    if about[i] == 'last-generated-id' then return string.match(about[i + 1], '^%d+') end
  end
end
for i, key in ipairs(KEYS) do
  local type = redis.call('TYPE', key).ok
  if type ~= 'none' and type ~= ARGV[i] then return 1 end
  local number = counted(key, type)
  if not string.find(number, '^%d+$') or #number > 15 then return 1 end
end
return 0`;

/**
 * Deletes a queue whose keys were overwritten by something else: Redis rejects all of BullMQ's commands on it (`WRONGTYPE`), so no turn is served.
 * Nothing is lost: lanes are rung again, and regular jobs restored.
 *
 * @returns whether it was
 */
export async function deleteOverwritten(redis: Redis, prefix: string, name: QueueName): Promise<boolean> {
  // Only the names of keys are needed; a queue with overwritten keys cannot be opened.
  const queueKeys = new QueueKeys(prefix);
  const keys = Object.keys(TYPE_OF_KEY).map((key) => queueKeys.toKey(name, key));
  const types = Object.values(TYPE_OF_KEY);
  if ((await redis.eval(IS_OVERWRITTEN, keys.length, ...keys, ...types)) === 0) return false;
  const batches: AsyncIterable<string[]> = redis.scanStream({ match: queueKeys.toKey(name, '*') });
  for await (const found of batches) if (found.length > 0) await redis.unlink(found);
  return true;
}
