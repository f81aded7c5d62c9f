import { type Grant, unitsPerToken } from '@posthorn/domain';
import { within } from '@posthorn/kernel';
import { connectProducer, type Redis, type RedisOptions } from '../connections.ts';
import { errorForLog } from '../redis-unusable.ts';
import type { Demand } from './demand.ts';
import { TAKE_TOKENS } from './take-tokens.ts';

const FIRST_BACK_OFF_MS = 1_000;
const MAX_BACK_OFF_MS = 10_000;
/** A connection on which an answer is overdue for this long is replaced. */
const SILENCE_MS = 1_000;

type WithScript = Redis & { takeTokens(keyCount: number, ...args: (string | number)[]): Promise<number[]> };

/** The buckets that all gateways share. After Redis has failed or was slow it is not queried for a back-off of 1 s, then 2 s, up to 10 s, until it answers in time. */
export class RedisBuckets {
  private readonly connection: WithScript;
  private backOffMs = 0;
  private notBeforeMs = 0;

  constructor(
    private readonly redis: RedisOptions,
    private readonly onError: (error: Error) => void,
  ) {
    const connection = connectProducer(redis.url, onError, SILENCE_MS);
    // ioredis sends the script in full on a new connection and after a SCRIPT FLUSH, otherwise by its digest (EVALSHA).
    connection.defineCommand('takeTokens', { lua: TAKE_TOKENS });
    this.connection = connection as WithScript;
  }

  /** Whether Redis should be queried now. */
  get isReachable(): boolean {
    return this.connection.status === 'ready' && performance.now() >= this.notBeforeMs;
  }

  /**
   * Takes tokens from several distinct buckets in one call.
   *
   * @returns a grant for each demand; undefined when Redis has failed or did not answer within `withinMs`
   */
  async take(demands: readonly Demand[], withinMs: number): Promise<Grant[] | undefined> {
    try {
      const reply = await within(this.ask(demands), withinMs);
      if (reply === undefined) throw new Error('Redis did not answer the rate limiter in time');
      const grants = demands.map((_, index) => grantIn(reply, index));
      this.backOffMs = 0;
      return grants;
    } catch (error) {
      this.backOffMs = Math.min(this.backOffMs * 2 || FIRST_BACK_OFF_MS, MAX_BACK_OFF_MS);
      this.notBeforeMs = performance.now() + this.backOffMs;
      this.onError(errorForLog(error));
      return undefined;
    }
  }

  close(): void {
    this.connection.disconnect();
  }

  private ask(demands: readonly Demand[]): Promise<number[]> {
    // One hash tag for all: a script may only touch keys of one slot of a Redis Cluster.
    const keys = demands.map(({ policy, id }) => `${this.redis.prefix}:{rates}:${policy}:${id}`);
    const args = demands.flatMap(({ limit, wanted }) => [
      limit.amount,
      unitsPerToken(limit),
      limit.burst,
      wanted,
    ]);
    return this.connection.takeTokens(keys.length, ...keys, ...args);
  }
}

function grantIn(reply: readonly number[], index: number): Grant {
  const [granted, missing] = [reply[2 * index + 1], reply[2 * index + 2]];
  if (granted === undefined || missing === undefined)
    throw new Error('Redis gave the rate limiter an answer that it does not understand');
  return { granted, bucket: { missing, atUs: reply[0]! } };
}
