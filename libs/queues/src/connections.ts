import { Redis, type RedisOptions as ConnectionOptions } from 'ioredis';

/** How long a producer waits for Redis' answer; nobody waits for a producer, so this only bounds what piles up. */
const COMMAND_TIMEOUT_MS = 2_000;
const CONNECT_TIMEOUT_MS = 3_000;
/** How long a connection may take to close. ioredis waits for the other side even where the connection is lost. */
const DISCONNECT_TIMEOUT_MS = 200;
const MAX_RECONNECT_DELAY_MS = 2_000;
/** How long closing queues and workers may take: a frozen Redis never answers, and must not keep a process from ending. */
export const LEAVE_WITHIN_MS = 5_000;

export type { Redis } from 'ioredis';

/** Where Redis is, and what its keys begin with. */
export interface RedisOptions {
  readonly url: string;
  readonly prefix: string;
}

/** Reconnects for ever, soon enough that an outage ends within two seconds of Redis being back. */
const retryStrategy = (times: number): number =>
  Math.min(100 * 2 ** Math.min(times, 10), MAX_RECONNECT_DELAY_MS);

/** After a failover the old server may keep its connections, as a replica that takes nothing: only a new one leads to the server that took over. */
const reconnectOnError = ({ message }: Error): boolean => message.includes('READONLY');

/** How a connection is made and left, whatever it is for. */
const LINE = {
  connectTimeout: CONNECT_TIMEOUT_MS,
  disconnectTimeout: DISCONNECT_TIMEOUT_MS,
  retryStrategy,
  reconnectOnError,
} satisfies ConnectionOptions;

/**
 * A connection for adding jobs. While Redis is away a command fails at once: queued offline, it would hang its caller
 * and ring, much later, for work that is long done.
 */
export function connectProducer(
  url: string,
  onError: (error: Error) => void,
  more: Pick<ConnectionOptions, 'socketTimeout'> = {},
): Redis {
  const connection = new Redis(url, {
    enableOfflineQueue: false,
    maxRetriesPerRequest: 0,
    commandTimeout: COMMAND_TIMEOUT_MS,
    // A server that says nothing may have been replaced: a new connection leads to the one that took over.
    socketTimeout: COMMAND_TIMEOUT_MS,
    ...more,
    ...LINE,
  });
  connection.on('error', onError);
  return connection;
}

/** A connection for a worker: it waits as long as Redis is away, and goes on by itself. */
export function connectWorker(url: string, onError: (error: Error) => void): Redis {
  const connection = new Redis(url, { maxRetriesPerRequest: null, ...LINE });
  connection.on('error', onError);
  return connection;
}
