import { pointAtPrimary } from '@posthorn/domain';
import { ReplyError } from 'ioredis';

/** Why this Redis cannot be used, and what to do about it. */
export class RedisUnusable extends Error {
  override readonly name = 'RedisUnusable';
}

export const TO_PRIMARY = pointAtPrimary('REDIS_URL');

/** By the first word (error prefix) of an error reply (https://redis.io/docs/latest/develop/reference/protocol-spec/#simple-errors). */
const ERROR_HINTS: Readonly<Record<string, string>> = {
  LOADING: 'Redis is loading what it had written to its disk: wait until it has',
  MASTERDOWN: `Redis is a replica without its primary: ${TO_PRIMARY}`,
  // https://redis.io/docs/latest/operate/oss_and_stack/management/security/#protected-mode
  DENIED:
    'Redis is in protected mode and takes nobody from another machine: set a password (requirepass), and write it in REDIS_URL',
  BUSY: 'Redis has been running a script of somebody else for seconds: end it with SCRIPT KILL, and see who runs it',
};

/** What an ACL must allow: none of `@admin` is needed, and of `@dangerous` only INFO. */
const RIGHTS = '+@all -@admin -@dangerous +info';

/** Translates errors that only Redis gives into advice; others, such as system error codes, are explained by the caller. */
export function unusable(error: NodeJS.ErrnoException, prefix: string): Error {
  const { message } = error;
  const advice = message.startsWith('NOPERM')
    ? `${notPermitted(message)}: give it ~${prefix}:* and ${RIGHTS}`
    : adviceOn(error);
  return advice === undefined ? error : new RedisUnusable(advice, { cause: error });
}

function notPermitted(message: string): string {
  return `The user in REDIS_URL may not do in Redis what Posthorn needs (${message})`;
}

/** What ioredis says of bytes that are no reply of Redis. */
const NO_REPLY = /^Unknown RESP type/;
const UNKNOWN_COMMAND = /^ERR unknown command ['`]?([\w|]+)/;

function adviceOn(error: NodeJS.ErrnoException): string | undefined {
  const { message } = error;
  if (isRefusedDatabase(error))
    return `Redis does not open the database whose number REDIS_URL ends with (${message}): correct that number, or raise databases in redis.conf`;
  if (NO_REPLY.test(message)) return 'What answers there is no Redis: correct host and port in REDIS_URL';
  const missing = UNKNOWN_COMMAND.exec(message)?.[1];
  if (missing !== undefined)
    return `Redis has no command ${missing.toUpperCase()}, which Posthorn needs: take its rename-command out of redis.conf, or use a Redis that has it`;
  const hint = adviceOnTls(error) ?? ERROR_HINTS[message.split(' ')[0]!];
  if (hint !== undefined || !isHangUp(error)) return hint;
  // It says so only in clear text.
  if (MAXCLIENTS.test(message))
    return 'Redis takes no more clients: end connections that nobody needs, or raise maxclients';
  return 'Redis, or a proxy before it, hangs up: check that the proxy has a server that is up, and that not as many clients are connected as maxclients allows';
}

/** What to do about a certificate, ours or that of Redis; undefined: the error is another one. */
function adviceOnTls(
  error: NodeJS.ErrnoException & { cert?: { subjectaltname?: string } },
): string | undefined {
  const { code, message, cert } = error;
  if (/ alert (?:certificate required|handshake failure)/.test(message))
    return 'Redis ends the TLS handshake, as it does by default with clients that have no certificate, such as Posthorn: set tls-auth-clients no, and a password';
  if (code === 'ERR_TLS_CERT_ALTNAME_INVALID')
    return `The certificate of Redis is for another host (${cert?.subjectaltname ?? 'it names none'}): write one of its names as the host in REDIS_URL`;
  if (code === 'CERT_HAS_EXPIRED')
    return 'The certificate of Redis, or the one that it was issued by, has expired: renew it';
  if (!/certificate/i.test(message)) return undefined;
  return `The certificate of Redis is not trusted (${message.split(';')[0]}): let NODE_EXTRA_CA_CERTS name a file with the one that it was issued by, and restart the apps: they read it only when they start`;
}

const MAXCLIENTS = /max number of clients/;

export function isHangUp({ code = '', message }: NodeJS.ErrnoException): boolean {
  return (
    /^(?:ECONNRESET|EPIPE)$/.test(code) ||
    message.startsWith('Connection is closed') ||
    MAXCLIENTS.test(message)
  );
}

/** Whether Redis lacks the database whose number REDIS_URL ends with, or does not let us in there. */
export function isRefusedDatabase(error: Error & { command?: { name: string } }): boolean {
  // The login that failed is sent together with it.
  const isLogin = error.message.startsWith('NOAUTH');
  return error instanceof ReplyError && error.command?.name === 'select' && !isLogin;
}

/** What ioredis says of a command or a connection when Redis cannot be reached, or is lost before it answers. */
const UNANSWERED =
  /^(?:Connection is closed|Reached the max retries per request limit|Stream isn't writeable|Socket timeout)/;

/** Whether a command has failed because Redis was unavailable. */
export function isRedisOutage(error: unknown): boolean {
  return error instanceof Error && UNANSWERED.test(error.message);
}

/** Node's codes for a connection that could not be made, or was lost. */
const SYSTEM_ERROR = /^E(?!RR_)[A-Z_]+$/;
/** What Redis says of a write when its memory or disk is full, it is a replica, or has too few of them. */
const REFUSED_WRITE = /^(?:OOM|MISCONF|READONLY|NOREPLICAS) /;
/** What Redis adds to the error of a script: which of its lines. */
const OF_SCRIPT = ' script: ';

/** The error of a command or a connection, for the log: what Redis, Node and ioredis say names neither Redis nor what to do. */
export function errorForLog(error: unknown): Error {
  const said = sentenceForLog(error as Error);
  return said === undefined ? (error as Error) : new Error(said, { cause: error });
}

function sentenceForLog(error: NodeJS.ErrnoException): string | undefined {
  const { code = '', message } = error;
  const lost = 'Redis cannot be reached, or was lost before it answered';
  if (isRedisOutage(error)) return lost;
  // When a name has several addresses, the error of all of them has no message.
  if (SYSTEM_ERROR.test(code)) return `${lost} (${message || code})`;
  if (/^(?:NOAUTH|WRONGPASS) /.test(message))
    return 'Redis refuses the login: correct the name and password in REDIS_URL';
  // Not these rights themselves: before an `@`, logs mask what may be a person's name.
  if (message.startsWith('NOPERM'))
    return `${notPermitted(message)}: npm run posthorn -- doctor names the rights to give it`;
  return REFUSED_WRITE.test(message)
    ? `Redis accepts no writes (${message.split(OF_SCRIPT)[0]})`
    : adviceOn(error);
}
