import type { RedisFacts } from '@posthorn/domain';
import { Redis, ReplyError } from 'ioredis';
import type { RedisOptions } from './connections.ts';
import { answerInClear, answersTls, tlsAlert } from './probe-redis.ts';
import { isHangUp, RedisUnusable, TO_PRIMARY, unusable } from './redis-unusable.ts';

const ANSWER_TIMEOUT_MS = 5_000;

/** What `doctor` wants to know about Redis. */
export interface RedisExamination {
  readonly facts: RedisFacts;
  /** The error with which it rejects a command on several keys; undefined: it accepts it. */
  readonly refusal: string | undefined;
  /** Offset of its clock from this machine's. */
  readonly offsetMs: number;
  /** Round trip of the query for its time. */
  readonly roundTripMs: number;
}

/** By the mode that INFO names: `redis_mode`, or `server_mode` since Valkey 8. */
const MODES: Readonly<Record<string, string>> = {
  sentinel: `REDIS_URL points to a Sentinel, which keeps nothing: ${TO_PRIMARY}`,
  cluster:
    'REDIS_URL points to a cluster, where the keys of a queue may not be changed together: point it at a Redis that is not one',
};

/** Commands that Posthorn needs, some of each ACL category; an ACL may forbid them, or `rename-command` take them away. */
const COMMANDS = [
  ...['GET', 'SET', 'DEL', 'HSET', 'LPUSH', 'SADD', 'ZADD', 'XADD', 'BZPOPMIN', 'PEXPIRE', 'UNLINK'],
  ...['SCAN', 'EVALSHA'],
];

/**
 * Lists which commands the ACL forbids on a key, and fails if one does not exist; neither on an older Redis, which cannot tell and is reported as too old
 * elsewhere. KEYS: the key. ARGV: the commands.
 */
const FORBIDDEN = `
local forbidden = {}
local key = KEYS[1]
for _, command in ipairs(redis.acl_check_cmd and ARGV or {}) do
  local exists, isAllowed = pcall(redis.acl_check_cmd, command, key, key, key, key)
  if not exists then return redis.error_reply("ERR unknown command '" .. command .. "'") end
  if not isAllowed then table.insert(forbidden, command) end
end
return table.concat(forbidden, ', ')`;

/** Two unused keys in different hash slots of a cluster: Redis rejects deleting both whenever it would reject the multi-key scripts of the queues. */
const PROBE_KEYS = ['doctor', 'doctor-too'];

/**
 * Asks a Redis once, on a connection of its own, and changes nothing.
 *
 * @throws when it cannot be reached, refuses us or what we need, or does not answer within 5 s
 */
export async function examineRedis({ url, prefix }: RedisOptions): Promise<RedisExamination> {
  const connection = new Redis(url, {
    lazyConnect: true,
    connectTimeout: ANSWER_TIMEOUT_MS,
    commandTimeout: ANSWER_TIMEOUT_MS,
    maxRetriesPerRequest: 0,
    retryStrategy: () => null,
    // Otherwise ioredis would wait for a server that is still loading its data, although that answers with an error that we want to show.
    enableReadyCheck: false,
  });
  let fault: Error | undefined;
  connection.on('error', (error: Error) => (fault = error));
  try {
    await connection.connect();
    if (fault !== undefined) throw fault;
    const facts = factsOf(await connection.info());
    const mode = MODES[facts['redis_mode'] ?? facts['server_mode'] ?? ''];
    if (mode !== undefined) throw new RedisUnusable(mode);
    const [askedAt, begun] = [Date.now(), performance.now()];
    const [seconds, microseconds] = await connection.time();
    const roundTripMs = performance.now() - begun;
    const forbidden = await connection.eval(FORBIDDEN, 1, `${prefix}:doctor`, ...COMMANDS);
    if (forbidden !== '') throw new Error(`NOPERM ${String(forbidden)}`);
    const keys = PROBE_KEYS.map((key) => `${prefix}:${key}`);
    const refusal = await connection.unlink(...keys).then(() => undefined, errorReplyOf);
    const now = Number(seconds) * 1_000 + Number(microseconds) / 1_000;
    return { facts, refusal, offsetMs: now - askedAt - roundTripMs / 2, roundTripMs };
  } catch (error) {
    if (error instanceof RedisUnusable) throw error;
    // The error of the connection itself says more than "Connection is closed".
    const reason = (fault ?? error) as Error;
    throw (await schemeToWrite(url, reason)) ?? unusable(await reasonOfHangUp(url, reason), prefix);
  } finally {
    connection.disconnect();
  }
}

/** The text of an error reply. @throws any other error, such as a timeout */
function errorReplyOf(error: Error): string {
  if (error instanceof ReplyError) return error.message;
  throw error;
}

/** Errors of a connection that uses TLS where the server does not, or the other way round. */
const WRONG_SCHEME = /^(?:ETIMEDOUT|ECONNRESET|EPIPE|EPROTO|ERR_SSL_\w+)$/;

/**
 * An error that names the right scheme, if REDIS_URL has the wrong one. A Redis without TLS waits for more bytes after a TLS handshake; one with TLS
 * hangs up on plain text.
 */
async function schemeToWrite(url: string, error: NodeJS.ErrnoException): Promise<Error | undefined> {
  const { code = '', message } = error;
  if (!WRONG_SCHEME.test(code) && !isHangUp(error)) return undefined;
  const isSecure = url.startsWith('rediss:');
  if (!(await (isSecure ? answerInClear(url) : answersTls(url)))) return undefined;
  return new RedisUnusable(
    isSecure
      ? `Redis speaks no TLS there (${message}): write redis:// in REDIS_URL, or the port that has TLS`
      : `Redis speaks TLS there (${message}): write rediss:// in REDIS_URL`,
    { cause: error },
  );
}

/**
 * The reason that Redis gives for hanging up, if it gives one. A client whose first write fails never reads it, so it is asked for on a connection of
 * its own.
 */
async function reasonOfHangUp(url: string, error: Error): Promise<Error> {
  if (!isHangUp(error)) return error;
  if (url.startsWith('rediss:')) return (await tlsAlert(url)) ?? error;
  const answer = await answerInClear(url);
  return answer?.startsWith('-') ? new Error(answer.slice(1), { cause: error }) : error;
}

/** Parses INFO: lines of `name:value` under headings (https://redis.io/docs/latest/commands/info/). */
function factsOf(info: string): RedisFacts {
  const lines = info.split(/\r?\n/).filter((line) => line !== '' && !line.startsWith('#'));
  return Object.fromEntries(
    lines.map((line) => [line.slice(0, line.indexOf(':')), line.slice(line.indexOf(':') + 1)]),
  );
}
