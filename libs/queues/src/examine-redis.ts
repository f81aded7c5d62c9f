import type { RedisFacts } from '@posthorn/domain';
import { Redis } from 'ioredis';

const ANSWER_TIMEOUT_MS = 5_000;

/** What Redis says of itself, and its clock. */
export interface RedisExamination {
  readonly facts: RedisFacts;
  /** By how much its clock is ahead of this machine's. */
  readonly offsetMs: number;
  /** How long asking for that took. */
  readonly roundTripMs: number;
}

/**
 * Asks a Redis once, on a connection of its own, and changes nothing.
 *
 * @throws when it cannot be reached, refuses us, or does not answer within 5 s
 */
export async function examineRedis(url: string): Promise<RedisExamination> {
  const connection = new Redis(url, {
    lazyConnect: true,
    connectTimeout: ANSWER_TIMEOUT_MS,
    commandTimeout: ANSWER_TIMEOUT_MS,
    maxRetriesPerRequest: 0,
    retryStrategy: () => null,
  });
  let fault: Error | undefined;
  connection.on('error', (error: Error) => (fault = error));
  try {
    await connection.connect();
    const facts = factsOf(await connection.info());
    const [askedAt, begun] = [Date.now(), performance.now()];
    const [seconds, microseconds] = await connection.time();
    const roundTripMs = performance.now() - begun;
    const now = Number(seconds) * 1_000 + Number(microseconds) / 1_000;
    return { facts, offsetMs: now - askedAt - roundTripMs / 2, roundTripMs };
  } catch (error) {
    // The connection's own error is closer to the reason than that it is closed.
    throw fault ?? error;
  } finally {
    connection.disconnect();
  }
}

/** Lines of `name:value`, under headings (https://redis.io/docs/latest/commands/info/). */
function factsOf(info: string): RedisFacts {
  const lines = info.split(/\r?\n/).filter((line) => line !== '' && !line.startsWith('#'));
  return Object.fromEntries(
    lines.map((line) => [line.slice(0, line.indexOf(':')), line.slice(line.indexOf(':') + 1)]),
  );
}
