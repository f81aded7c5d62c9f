import { pointAtPrimary, type RedisFacts } from '@posthorn/domain';
import { Redis, ReplyError } from 'ioredis';
import type { RedisOptions } from './connections.ts';
import { answerInClear, answersTls } from './probe-redis.ts';

const ANSWER_TIMEOUT_MS = 5_000;

/** What Redis says of itself, and its clock. */
export interface RedisExamination {
  readonly facts: RedisFacts;
  /** What it says instead of changing keys in one go; undefined: it does change them. */
  readonly refusal: string | undefined;
  /** By how much its clock is ahead of this machine's. */
  readonly offsetMs: number;
  /** How long asking for that took. */
  readonly roundTripMs: number;
}

/** What of Redis cannot be used, and what to do about it. */
class RedisUnusable extends Error {
  override readonly name = 'RedisUnusable';
}

const TO_PRIMARY = pointAtPrimary('REDIS_URL');

/** By what it says it is. */
const MODES: Readonly<Record<string, string>> = {
  sentinel: `REDIS_URL points to a Sentinel, which keeps nothing: ${TO_PRIMARY}`,
  cluster:
    'REDIS_URL points to a cluster, where the keys of a queue may not be changed together: point it at a Redis that is not one',
};

/** By the first word of what a Redis says that answers nothing else (https://redis.io/docs/latest/develop/reference/protocol-spec/#simple-errors). */
const SAYINGS: Readonly<Record<string, string>> = {
  LOADING: 'Redis is loading what it had written to its disk: wait until it has',
  MASTERDOWN: `Redis is a replica without its primary: ${TO_PRIMARY}`,
  // https://redis.io/docs/latest/operate/oss_and_stack/management/security/#protected-mode
  DENIED:
    'Redis is in protected mode and takes nobody from another machine: set a password (requirepass), and write it in REDIS_URL',
  BUSY: 'Redis has been running a script of somebody else for seconds: end it with SCRIPT KILL, and see who runs it',
};

/** What is done with keys, and may be forbidden to a user. */
const COMMANDS = ['SET', 'DEL', 'HSET', 'LPUSH', 'ZADD', 'XADD', 'BZPOPMIN', 'PEXPIRE', 'UNLINK'];

/** Which of some commands may not be done with a key. An older Redis does not know, and is found to be too old. KEYS: the key. ARGV: the commands. */
const FORBIDDEN = `
local forbidden = {}
local key = KEYS[1]
for _, command in ipairs(ARGV) do
  if redis.acl_check_cmd and not redis.acl_check_cmd(command, key, key, key, key) then table.insert(forbidden, command) end
end
return table.concat(forbidden, ', ')`;

/** Two keys that nobody has, and that are apart in a cluster: Redis refuses to delete them whenever it refuses what queues are changed by. */
const NO_KEYS = ['doctor', 'doctor-too'];

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
    // One that loads what it had on its disk answers, and is waited for otherwise.
    enableReadyCheck: false,
  });
  let fault: Error | undefined;
  connection.on('error', (error: Error) => (fault = error));
  try {
    await connection.connect();
    const facts = factsOf(await connection.info());
    const mode = MODES[facts['redis_mode'] ?? ''];
    if (mode !== undefined) throw new RedisUnusable(mode);
    const [askedAt, begun] = [Date.now(), performance.now()];
    const [seconds, microseconds] = await connection.time();
    const roundTripMs = performance.now() - begun;
    const forbidden = await connection.eval(FORBIDDEN, 1, `${prefix}:doctor`, ...COMMANDS);
    if (forbidden !== '') throw new Error(`NOPERM ${String(forbidden)}`);
    const keys = NO_KEYS.map((key) => `${prefix}:${key}`);
    const refusal = await connection.unlink(...keys).then(() => undefined, saidBy);
    const now = Number(seconds) * 1_000 + Number(microseconds) / 1_000;
    return { facts, refusal, offsetMs: now - askedAt - roundTripMs / 2, roundTripMs };
  } catch (error) {
    if (error instanceof RedisUnusable) throw error;
    // The connection's own error is closer to the reason than that it is closed.
    const reason = (fault ?? error) as Error;
    throw (await schemeToWrite(url, reason)) ?? unusable(await lastWord(url, reason), prefix);
  } finally {
    connection.disconnect();
  }
}

/** What Redis itself said. @throws whatever else went wrong, such as that it says nothing in time */
function saidBy(error: Error): string {
  if (error instanceof ReplyError) return error.message;
  throw error;
}

/** What a connection comes to that was made with TLS where none is spoken, or without it where it is. */
const OTHER_SCHEME = /^(?:ETIMEDOUT|ECONNRESET|EPIPE|EPROTO|ERR_SSL_\w+)$/;

/** Which scheme REDIS_URL must have, if it has the other one: a Redis without TLS waits for more when it is greeted with it, and one with it hangs up else. */
async function schemeToWrite(url: string, error: NodeJS.ErrnoException): Promise<Error | undefined> {
  const { code = '', message } = error;
  if (!OTHER_SCHEME.test(code) && !isHangUp(error)) return undefined;
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

/** Who hangs up may have said why, of which a client that was about to write hears nothing. */
async function lastWord(url: string, error: Error): Promise<Error> {
  const said = isHangUp(error) && !url.startsWith('rediss:') ? await answerInClear(url) : undefined;
  return said?.startsWith('-') ? new Error(said.slice(1), { cause: error }) : error;
}

/** Says what to do where it is about Redis alone: the codes are those of other servers too. */
function unusable(error: NodeJS.ErrnoException, prefix: string): Error {
  const { message } = error;
  const because = { cause: error };
  if (message.startsWith('NOPERM'))
    return new RedisUnusable(
      `The user in REDIS_URL may not do in Redis what Posthorn needs (${message}): give it ~${prefix}:* and +@all`,
      because,
    );
  if (/certificate/i.test(message))
    return new RedisUnusable(
      `The certificate of Redis is not trusted (${message.split(';')[0]}): let NODE_EXTRA_CA_CERTS name a file with the one that it was issued by`,
      because,
    );
  const saying = SAYINGS[message.split(' ')[0]!];
  if (saying !== undefined) return new RedisUnusable(saying, because);
  if (isHangUp(error))
    return new RedisUnusable(
      'Redis hangs up: raise maxclients, if so many are connected, and check that nothing on the way ends connections',
      because,
    );
  return error;
}

/** Lines of `name:value`, under headings (https://redis.io/docs/latest/commands/info/). */
function factsOf(info: string): RedisFacts {
  const lines = info.split(/\r?\n/).filter((line) => line !== '' && !line.startsWith('#'));
  return Object.fromEntries(
    lines.map((line) => [line.slice(0, line.indexOf(':')), line.slice(line.indexOf(':') + 1)]),
  );
}
