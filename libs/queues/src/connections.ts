import { Redis, type RedisOptions as ConnectionOptions } from 'ioredis';
import { errorForLog, isRefusedDatabase } from './redis-unusable.ts';

/**
 * After so long without an answer a producer's connection is taken for dead and replaced: a silent server may have a successor. What it was asked
 * fails then; no caller waits for that, so this only bounds how many commands pile up.
 */
const PRODUCER_SILENCE_MS = 2_000;
/** The same for a worker's connection. BullMQ lets Redis wait for a job for at most 10 s. */
const WORKER_SILENCE_MS = 12_000;
const CONNECT_TIMEOUT_MS = 3_000;
/** How long a connection may take to close: ioredis waits for the other side even if the connection is already lost. */
const DISCONNECT_TIMEOUT_MS = 200;
const MAX_RECONNECT_DELAY_MS = 2_000;
/** How long closing queues and workers may take: a frozen Redis, which never answers, must not keep a process from exiting. */
export const CLOSE_WITHIN_MS = 5_000;

export type { Redis } from 'ioredis';

/** The URL of Redis and the prefix of all keys. */
export interface RedisOptions {
  readonly url: string;
  readonly prefix: string;
  /** After so long without an answer a connection for adding jobs is replaced. Default: 2 s; tests of something else have more patience. */
  readonly silenceMs?: number | undefined;
}

/** Reconnects for ever, with a back-off of at most two seconds. */
const retryStrategy = (times: number): number =>
  Math.min(100 * 2 ** Math.min(times, 10), MAX_RECONNECT_DELAY_MS);

/**
 * After a failover the old server may keep its connections open as a read-only replica; only a new connection reaches the new primary. Once is enough until the
 * connection is closed: for each command that was refused, ioredis would close it again, with one more listener, and Node would warn of a leak.
 */
function reconnectFromReplica(): (error: Error) => boolean {
  let closedAtMs = Number.NEGATIVE_INFINITY;
  return ({ message }) => {
    const nowMs = performance.now();
    if (!message.includes('READONLY') || nowMs - closedAtMs < DISCONNECT_TIMEOUT_MS) return false;
    closedAtMs = nowMs;
    return true;
  };
}

/** Options of all connections. */
const connectionOptions = () =>
  ({
    connectTimeout: CONNECT_TIMEOUT_MS,
    disconnectTimeout: DISCONNECT_TIMEOUT_MS,
    retryStrategy,
    reconnectOnError: reconnectFromReplica(),
  }) satisfies ConnectionOptions;

/** A connection for adding jobs. While Redis is down commands fail at once: in ioredis' offline queue they would block their caller and ring, much later, for work that is long done. */
export function connectProducer(
  url: string,
  onError: (error: Error) => void,
  silenceMs = PRODUCER_SILENCE_MS,
): Redis {
  const connection = new Redis(url, {
    enableOfflineQueue: false,
    maxRetriesPerRequest: 0,
    socketTimeout: silenceMs,
    ...connectionOptions(),
  });
  return withErrors(connection, onError);
}

/** A connection for a worker: it waits while Redis is down and resumes by itself. */
export function connectWorker(url: string, onError: (error: Error) => void): Redis {
  const connection = new Redis(url, {
    maxRetriesPerRequest: null,
    socketTimeout: WORKER_SILENCE_MS,
    ...connectionOptions(),
  });
  return withErrors(connection, onError);
}

function withErrors(connection: Redis, onError: (error: Error) => void): Redis {
  return connection.on('error', (error: Error) => {
    onError(errorForLog(error));
    // ioredis would go on in database 0, whosever that is.
    if (isRefusedDatabase(error)) connection.disconnect(true);
  });
}
