import { QueueKeys } from 'bullmq';
import { errorForLog, type RedisOptions } from './connections.ts';
import { JobProducer } from './job-producer.ts';
import { QUEUES, type QueueName } from './jobs.ts';
import { deleteLostJobs, KEYS_PER_SCAN } from './lost-jobs.ts';
import { shortenLocks } from './shorten-locks.ts';

/** How often lost jobs are searched for while lanes have work. */
const SEARCH_EVERY_MS = 60_000;
/** The pause after a search is at least this many times its duration. */
const SEARCH_PAUSE_FACTOR = 100;

/**
 * Deletes deduplication keys that do not point to an unfinished job of their own, so that their lanes can be rung again; returns how many. Two cases need no
 * care here: where the job is gone, BullMQ frees the key itself, and jobs in no list were deleted before. So the lists, which may be long, are not searched.
 *
 * KEYS: deduplication keys. ARGV: the key prefixes of jobs and of deduplication keys.
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

interface QueueRepairOptions extends RedisOptions {
  /** Default: 60 s. */
  readonly searchEveryMs?: number;
  readonly onResumed: (queue: QueueName) => void;
  /** Called when a queue was deleted because something else had overwritten a part of it. */
  readonly onReset: (queue: QueueName) => void;
  /** Called with how many jobs were deleted that would never have been processed. */
  readonly onLost: (queue: QueueName, jobs: number) => void;
  readonly onError: (error: Error) => void;
}

/** Repairs damage that was done to queues directly in Redis, bypassing BullMQ: by people, evictions, or other programs. */
export class QueueRepair {
  private readonly producers: readonly JobProducer[];
  private readonly searchEveryMs: number;
  private repairing: Promise<void> | undefined;
  /** When lost jobs are searched for next. */
  private nextSearchAt: number;

  constructor(private readonly options: QueueRepairOptions) {
    const { onError, searchEveryMs = SEARCH_EVERY_MS } = options;
    this.producers = Object.values(QUEUES).map((name) => new JobProducer(name, options, onError));
    this.searchEveryMs = searchEveryMs;
    this.nextSearchAt = performance.now() + searchEveryMs;
  }

  /**
   * Repairs all queues; never rejects, and does nothing while Redis is down.
   *
   * @param lanes how many lanes have due work: if none has, none can be waiting for a lost job
   */
  async repair(lanes: number): Promise<void> {
    if (lanes === 0) this.nextSearchAt = performance.now() + this.searchEveryMs;
    await (this.repairing ??= this.repairAll().finally(() => (this.repairing = undefined)));
  }

  async close(): Promise<void> {
    await this.repairing;
    await Promise.all(this.producers.map((producer) => producer.close()));
  }

  private async repairAll(): Promise<void> {
    try {
      for (const producer of this.producers) {
        if (!producer.isConnected) continue;
        await this.resetOverwritten(producer);
        await this.resume(producer);
        await shortenLocks(producer.connection, await producer.queue());
        await this.deleteStuck(producer);
      }
      const startedAt = performance.now();
      if (startedAt < this.nextSearchAt) return;
      for (const producer of this.producers)
        if (producer.isConnected) {
          await this.deleteLost(producer);
          await this.freeLanes(producer);
        }
      const endedAt = performance.now();
      this.nextSearchAt = endedAt + Math.max(this.searchEveryMs, (endedAt - startedAt) * SEARCH_PAUSE_FACTOR);
    } catch (error) {
      this.options.onError(errorForLog(error));
    }
  }

  /**
   * Deletes a queue whose keys were overwritten by something else: Redis rejects all of BullMQ's commands on it (`WRONGTYPE`), so no turn is served.
   * Nothing is lost: lanes are rung again, and regular jobs restored.
   */
  private async resetOverwritten({ queueName: name, connection: redis }: JobProducer): Promise<void> {
    const { prefix, onReset } = this.options;
    // Only the names of keys are needed; a queue with overwritten keys cannot be opened.
    const queueKeys = new QueueKeys(prefix);
    const keys = Object.keys(TYPE_OF_KEY).map((key) => queueKeys.toKey(name, key));
    if ((await redis.eval(IS_OVERWRITTEN, keys.length, ...keys, ...Object.values(TYPE_OF_KEY))) === 0) return;
    const batches: AsyncIterable<string[]> = redis.scanStream({ match: queueKeys.toKey(name, '*') });
    for await (const found of batches) if (found.length > 0) await redis.unlink(found);
    onReset(name);
  }

  /**
   * Resumes a queue that somebody has paused or throttled in BullMQ: its rings would not be served, and idle workers would look stuck. Lanes are paused by
   * a row in the database instead, where everybody can see it.
   */
  private async resume(producer: JobProducer): Promise<void> {
    const queue = await producer.queue();
    const isPaused = await queue.isPaused();
    if (isPaused) await queue.resume();
    const limits = (await queue.removeGlobalConcurrency()) + (await queue.removeGlobalRateLimit());
    if (isPaused || limits > 0) this.options.onResumed(producer.queueName);
  }

  /** Deletes jobs that BullMQ cannot pass to a worker: it leaves them in place and retries each, so that a dozen of them would block all others. */
  private async deleteStuck(producer: JobProducer): Promise<void> {
    const queue = await producer.queue();
    const keys = [queue.toKey('active'), queue.toKey('wait')];
    const args = [queue.toKey(''), NEXT_JOBS, MAX_STALLS];
    const deleted = await producer.connection.eval(DELETE_STUCK, keys.length, ...keys, ...args);
    if (deleted !== 0)
      this.options.onError(new Error(`stuck jobs of ${producer.queueName} were deleted: ${String(deleted)}`));
  }

  private async deleteLost(producer: JobProducer): Promise<void> {
    const deleted = await deleteLostJobs(producer.connection, await producer.queue());
    if (deleted > 0) this.options.onLost(producer.queueName, deleted);
  }

  /** Frees lanes whose deduplication key was overwritten: BullMQ rejects their rings, or drops them as duplicates of a job that is never processed. */
  private async freeLanes(producer: JobProducer): Promise<void> {
    const queue = await producer.queue();
    const { queueName, connection: redis } = producer;
    const [jobs, lanes] = [queue.toKey(''), queue.toKey('de:')];
    let freed = 0;
    const batches: AsyncIterable<string[]> = redis.scanStream({ match: `${lanes}*`, count: KEYS_PER_SCAN });
    for await (const keys of batches)
      if (keys.length > 0)
        freed += (await redis.eval(FREE_LANES, keys.length, ...keys, jobs, lanes)) as number;
    if (freed > 0)
      this.options.onError(
        new Error(`lanes of ${queueName} were held by no job and are free again: ${freed}`),
      );
  }
}
