import { pointAtPrimary, type RedisFacts } from '@posthorn/domain';
import { Redis, ReplyError } from 'ioredis';
import { isRefusedDatabase, type RedisOptions } from './connections.ts';
import { answerInClear, answersTls } from './probe-redis.ts';

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

/** Why this Redis cannot be used, and what to do about it. */
class RedisUnusable extends Error {
  override readonly name = 'RedisUnusable';
}

const TO_PRIMARY = pointAtPrimary('REDIS_URL');

/** By the `redis_mode` of INFO. */
const MODES: Readonly<Record<string, string>> = {
  sentinel: `REDIS_URL points to a Sentinel, which keeps nothing: ${TO_PRIMARY}`,
  cluster:
    'REDIS_URL points to a cluster, where the keys of a queue may not be changed together: point it at a Redis that is not one',
};

/** By the first word (error prefix) of an error reply (https://redis.io/docs/latest/develop/reference/protocol-spec/#simple-errors). */
const ERROR_HINTS: Readonly<Record<string, string>> = {
  LOADING: 'Redis is loading what it had written to its disk: wait until it has',
  MASTERDOWN: `Redis is a replica without its primary: ${TO_PRIMARY}`,
  // https://redis.io/docs/latest/operate/oss_and_stack/management/security/#protected-mode
  DENIED:
    'Redis is in protected mode and takes nobody from another machine: set a password (requirepass), and write it in REDIS_URL',
  BUSY: 'Redis has been running a script of somebody else for seconds: end it with SCRIPT KILL, and see who runs it',
};

/** The commands on keys that Posthorn needs and an ACL may forbid. */
const COMMANDS = ['SET', 'DEL', 'HSET', 'LPUSH', 'ZADD', 'XADD', 'BZPOPMIN', 'PEXPIRE', 'UNLINK'];

/** Lists which commands the ACL forbids on a key; none on an older Redis, which cannot tell and is reported as too old elsewhere. KEYS: the key. ARGV: the commands. */
const FORBIDDEN = `
local forbidden = {}
local key = KEYS[1]
for _, command in ipairs(ARGV) do
  if redis.acl_check_cmd and not redis.acl_check_cmd(command, key, key, key, key) then table.insert(forbidden, command) end
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
    const mode = MODES[facts['redis_mode'] ?? ''];
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

function isHangUp({ code = '', message }: NodeJS.ErrnoException): boolean {
  return /^(?:ECONNRESET|EPIPE)$/.test(code) || /^Connection is closed|max number of clients/.test(message);
}

/**
 * The reason that Redis gives for hanging up, if it gives one. A client whose first write fails never reads it, so it is asked for on a connection of
 * its own.
 */
async function reasonOfHangUp(url: string, error: Error): Promise<Error> {
  const answer = isHangUp(error) && !url.startsWith('rediss:') ? await answerInClear(url) : undefined;
  return answer?.startsWith('-') ? new Error(answer.slice(1), { cause: error }) : error;
}

/** Translates errors that only Redis gives into advice; others, such as system error codes, are explained by the caller. */
function unusable(error: NodeJS.ErrnoException, prefix: string): Error {
  const { message } = error;
  const options = { cause: error };
  if (isRefusedDatabase(error))
    return new RedisUnusable(
      `Redis does not open the database whose number REDIS_URL ends with (${message}): correct that number, or raise databases in redis.conf`,
      options,
    );
  if (message.startsWith('NOPERM'))
    return new RedisUnusable(
      `The user in REDIS_URL may not do in Redis what Posthorn needs (${message}): give it ~${prefix}:* and +@all`,
      options,
    );
  if (/certificate/i.test(message))
    return new RedisUnusable(
      `The certificate of Redis is not trusted (${message.split(';')[0]}): let NODE_EXTRA_CA_CERTS name a file with the one that it was issued by`,
      options,
    );
  const hint = ERROR_HINTS[message.split(' ')[0]!];
  if (hint !== undefined) return new RedisUnusable(hint, options);
  if (isHangUp(error))
    return new RedisUnusable(
      'Redis hangs up: raise maxclients, if so many are connected, and check that nothing on the way ends connections',
      options,
    );
  return error;
}

/** Parses INFO: lines of `name:value` under headings (https://redis.io/docs/latest/commands/info/). */
function factsOf(info: string): RedisFacts {
  const lines = info.split(/\r?\n/).filter((line) => line !== '' && !line.startsWith('#'));
  return Object.fromEntries(
    lines.map((line) => [line.slice(0, line.indexOf(':')), line.slice(line.indexOf(':') + 1)]),
  );
}
