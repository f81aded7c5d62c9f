import { pointAtPrimary } from '@posthorn/domain';
import { isRefusedDatabase } from './connections.ts';

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
  const advice = adviceOn(error, prefix);
  return advice === undefined ? error : new RedisUnusable(advice, { cause: error });
}

/** What ioredis says of bytes that are no reply of Redis. */
const NO_REPLY = /^Unknown RESP type/;
const UNKNOWN_COMMAND = /^ERR unknown command ['`]?([\w|]+)/;

function adviceOn(error: NodeJS.ErrnoException, prefix: string): string | undefined {
  const { message } = error;
  if (isRefusedDatabase(error))
    return `Redis does not open the database whose number REDIS_URL ends with (${message}): correct that number, or raise databases in redis.conf`;
  if (message.startsWith('NOPERM'))
    return `The user in REDIS_URL may not do in Redis what Posthorn needs (${message}): give it ~${prefix}:* and ${RIGHTS}`;
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
  return `The certificate of Redis is not trusted (${message.split(';')[0]}): let NODE_EXTRA_CA_CERTS name a file with the one that it was issued by`;
}

const MAXCLIENTS = /max number of clients/;

export function isHangUp({ code = '', message }: NodeJS.ErrnoException): boolean {
  return (
    /^(?:ECONNRESET|EPIPE)$/.test(code) ||
    message.startsWith('Connection is closed') ||
    MAXCLIENTS.test(message)
  );
}
