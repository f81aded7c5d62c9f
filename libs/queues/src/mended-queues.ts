import { QueueKeys } from 'bullmq';
import type { Redis, RedisOptions } from './connections.ts';
import { JobProducer } from './job-producer.ts';
import { QUEUES, type QueueName } from './jobs.ts';
import { forgetLostJobs, KEYS_IN_ONE_GO } from './lost-jobs.ts';
import { shortenLocks } from './shorten-locks.ts';

/** How often lost jobs are looked for while lanes have work. */
const LOST_EVERY_MS = 60_000;
/** How many times as long as a search took passes before the next one. */
const REST = 100;

/**
 * Frees lanes whose ring counts as a duplicate of what is no job of theirs that is still to be served, and gives how many. Where a job is gone BullMQ frees its
 * lane itself, and one in no list is forgotten before: so the lists, which are long when much waits, are not searched for each lane.
 *
 * KEYS: what holds lanes. ARGV: what keys of jobs begin with, and those of what holds lanes.
 */
const FREE_LANES = `
local function isHeld(key)
  if redis.call('TYPE', key).ok ~= 'string' then return false end
  local job = ARGV[1] .. redis.call('GET', key)
  if redis.call('EXISTS', job) == 0 then return true end
  local fields = redis.pcall('HMGET', job, 'deid', 'finishedOn')
  return fields[1] == string.sub(key, #ARGV[2] + 1) and not fields[2]
end
local freed = 0
for _, key in ipairs(KEYS) do
  if not isHeld(key) then freed = freed + redis.call('DEL', key) end
end
return freed`;

/** How many of the jobs that are served next are looked at each time. */
const NEXT_JOBS = 100;

/**
 * Deletes jobs that are held or served next and hold broken JSON, and gives how many. KEYS: the lists of those in work and those that wait. ARGV: what keys of
 * jobs begin with, and how many of the next are looked at.
 */
const FORGET_UNREADABLE = `
local function isBroken(id)
  local fields = redis.pcall('HMGET', ARGV[1] .. id, 'data', 'opts', 'progress')
  if fields.err then return true end
  for _, text in ipairs(fields) do
    if text and not pcall(cjson.decode, text) then return true end
  end
  return false
end
local forgotten = 0
for i, first in ipairs({ 0, -tonumber(ARGV[2]) }) do
  for _, id in ipairs(redis.call('LRANGE', KEYS[i], first, -1)) do
    if isBroken(id) then
      redis.call('LREM', KEYS[i], 0, id)
      forgotten = forgotten + redis.call('DEL', ARGV[1] .. id)
    end
  end
end
return forgotten`;

/** What a queue's own keys are to Redis, by the names that BullMQ gives them. */
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

/**
 * Whether some key is of another type than it must be, or what BullMQ counts on from is no number that it can count on from. KEYS: the keys. ARGV: their
 * types, in the same order.
 */
const IS_OVERWRITTEN = `
local function counted(key, type)
  if type == 'string' then return redis.call('GET', key) end
  if type == 'hash' then return redis.call('HGET', key, 'opts.maxLenEvents') or '0' end
  local newest = type == 'stream' and redis.call('XREVRANGE', key, '+', '-', 'COUNT', 1)[1]
  return newest and string.match(newest[1], '^%d+') or '0'
end
for i, key in ipairs(KEYS) do
  local type = redis.call('TYPE', key).ok
  if type ~= 'none' and type ~= ARGV[i] then return 1 end
  local number = counted(key, type)
  if not string.find(number, '^%d+$') or #number > 15 then return 1 end
end
return 0`;

export interface MendedQueuesOptions extends RedisOptions {
  /** Default: 60 s. */
  readonly lostEveryMs?: number;
  readonly onResumed: (queue: QueueName) => void;
  /** Told that everything of a queue was deleted, because something else had been written over a part of it. */
  readonly onBegunAnew: (queue: QueueName) => void;
  /** Told how many jobs were found that would never have been served. */
  readonly onLost: (queue: QueueName, jobs: number) => void;
  readonly onError: (error: Error) => void;
}

/** Repairs what was done to queues in Redis itself, behind the back of everything that works with them. */
export class MendedQueues {
  private readonly producers: readonly (readonly [QueueName, JobProducer])[];
  private readonly lostEveryMs: number;
  private mending: Promise<void> | undefined;
  /** When lost jobs are looked for next. */
  private lookAt: number;

  constructor(private readonly options: MendedQueuesOptions) {
    const { onError, lostEveryMs = LOST_EVERY_MS } = options;
    this.producers = Object.values(QUEUES).map((name) => [name, new JobProducer(name, options, onError)]);
    this.lostEveryMs = lostEveryMs;
    this.lookAt = performance.now() + lostEveryMs;
  }

  /**
   * Mends what is amiss; never rejects, and does nothing while Redis is away.
   *
   * @param lanes how many have work that is due: where there are none, none can be waiting for a lost job
   */
  async mend(lanes: number): Promise<void> {
    if (lanes === 0) this.lookAt = performance.now() + this.lostEveryMs;
    await (this.mending ??= this.mendAll().finally(() => (this.mending = undefined)));
  }

  async close(): Promise<void> {
    await this.mending;
    await Promise.all(this.producers.map(([, producer]) => producer.close()));
  }

  private async mendAll(): Promise<void> {
    try {
      for (const [name, producer] of this.producers) {
        if (!producer.isConnected) continue;
        await this.beginAnew(name, producer.connection);
        await this.resume(name, producer);
        await shortenLocks(producer.connection, await producer.queue());
        await this.forgetUnreadable(name, producer);
      }
      const begunAt = performance.now();
      if (begunAt < this.lookAt) return;
      for (const [name, producer] of this.producers)
        if (producer.isConnected) {
          await this.forgetLost(name, producer);
          await this.freeLanes(name, producer);
        }
      const endedAt = performance.now();
      this.lookAt = endedAt + Math.max(this.lostEveryMs, (endedAt - begunAt) * REST);
    } catch (error) {
      this.options.onError(error as Error);
    }
  }

  /**
   * Deletes everything of a queue that something else was written over: Redis refuses whatever BullMQ does with it (`WRONGTYPE`), so that no turn is
   * served. Nothing is missed: lanes are rung again, and regular jobs put back.
   */
  private async beginAnew(name: QueueName, redis: Redis): Promise<void> {
    const { prefix, onBegunAnew } = this.options;
    // Of their names alone: a queue whose keys were written over cannot be opened.
    const queueKeys = new QueueKeys(prefix);
    const keys = Object.keys(TYPE_OF_KEY).map((key) => queueKeys.toKey(name, key));
    if ((await redis.eval(IS_OVERWRITTEN, keys.length, ...keys, ...Object.values(TYPE_OF_KEY))) === 0) return;
    const looks: AsyncIterable<string[]> = redis.scanStream({ match: queueKeys.toKey(name, '*') });
    for await (const found of looks) if (found.length > 0) await redis.unlink(found);
    onBegunAnew(name);
  }

  /**
   * Resumes a queue that somebody has paused or slowed down: its rings would not be served, and workers without jobs look stuck. What is to wait is held back
   * by a row in the database, which everybody can see.
   */
  private async resume(name: QueueName, producer: JobProducer): Promise<void> {
    const queue = await producer.queue();
    const isPaused = await queue.isPaused();
    if (isPaused) await queue.resume();
    const limits = (await queue.removeGlobalConcurrency()) + (await queue.removeGlobalRateLimit());
    if (isPaused || limits > 0) this.options.onResumed(name);
  }

  /** Forgets jobs that cannot be read: BullMQ leaves them where they are and takes them again, a second each time, so that a dozen would hold up all others. */
  private async forgetUnreadable(name: QueueName, { connection }: JobProducer): Promise<void> {
    const toKey = (key: string): string => new QueueKeys(this.options.prefix).toKey(name, key);
    const keys = [toKey('active'), toKey('wait')];
    const forgotten = await connection.eval(FORGET_UNREADABLE, keys.length, ...keys, toKey(''), NEXT_JOBS);
    if (forgotten !== 0)
      this.options.onError(
        new Error(`jobs of ${name} could not be read and were deleted: ${String(forgotten)}`),
      );
  }

  private async forgetLost(name: QueueName, producer: JobProducer): Promise<void> {
    const forgotten = await forgetLostJobs(producer.connection, await producer.queue());
    if (forgotten > 0) this.options.onLost(name, forgotten);
  }

  /** Frees lanes that something else was written over: BullMQ refuses their rings, or takes each for a duplicate of what is never served. */
  private async freeLanes(name: QueueName, producer: JobProducer): Promise<void> {
    const queue = await producer.queue();
    const redis = producer.connection;
    const [jobs, lanes] = [queue.toKey(''), queue.toKey('de:')];
    let freed = 0;
    const looks: AsyncIterable<string[]> = redis.scanStream({ match: `${lanes}*`, count: KEYS_IN_ONE_GO });
    for await (const keys of looks)
      if (keys.length > 0)
        freed += (await redis.eval(FREE_LANES, keys.length, ...keys, jobs, lanes)) as number;
    if (freed > 0)
      this.options.onError(new Error(`lanes of ${name} were held by no job and are free again: ${freed}`));
  }
}
