import { NotReady, UsageError } from './usage-error.mjs';

const MIGRATE = 'The database is not at the newest migration: run npm run migrate';
const LOGIN = 'The database refuses the login: correct the name and password in DATABASE_URL';
const REDIS_LOGIN = 'Redis refuses the login: correct the user name and password in REDIS_URL';
const CONNECTION_LOST =
  'The connection to the database was lost: check that it is running and what has been done, then try again';
const NO_ANSWER = /^(?:ECONNREFUSED|ENOTFOUND|EAI_AGAIN|EHOSTUNREACH|ENETUNREACH|ETIMEDOUT)$/;

/** For errors of the drivers that have no code; the first that matches counts. */
const BY_MESSAGE = /** @type {const} */ ([
  [
    /^(?:timeout (?:exceeded when trying to connect|expired)|Connection terminated due to connection timeout)$/,
    nobodyAnswers('there'),
  ],
  [/^Connection terminated|^Query read timeout|^Client has encountered/, CONNECTION_LOST],
  [/^Command timed out$/, 'It does not answer in time: see whether it is overloaded, paused or frozen'],
  [
    /unsupported startup parameter/,
    'A pooler such as PgBouncer is in front of Postgres, and Posthorn cannot work through it: point DATABASE_URL at Postgres itself',
  ],
]);

/** By SQLSTATE (https://www.postgresql.org/docs/current/errcodes-appendix.html) and by Prisma's codes. */
const SENTENCES = {
  ...sameFor('28P01 28000', LOGIN),
  '3D000':
    'The server has no database of this name: correct DATABASE_URL, or create it and run npm run migrate',
  '53100': 'The disk of Postgres is full: make room there; nothing was changed',
  '53300':
    'Postgres has no connection left: close unneeded ones, or raise max_connections, or the CONNECTION LIMIT of the role or the database if it has one; see docs/runbooks/connections-used-up.md',
  '55P03': 'Another session has locked what this needs: npm run posthorn -- doctor says which',
  '25006':
    'Postgres accepts no writes: it is a standby, or default_transaction_read_only is on; npm run posthorn -- doctor says which',
  '42501':
    'The role in DATABASE_URL lacks a privilege: use the role that npm run migrate ran as, to which the tables belong',
  '3F000':
    'The search_path of the role in DATABASE_URL names no existing schema: set it back (ALTER ROLE … RESET search_path)',
  ...sameFor('42P01 42704 42883 42703 P2021 P2022', MIGRATE),
  ...sameFor('57P01 57P02 57P03 ECONNRESET EPIPE P1001 P1002 P1008 P1017', CONNECTION_LOST),
  // No connection was available in time, or the transaction took too long and was rolled back.
  'P2028': 'The database is too busy, and nothing was changed: see whether it is overloaded, then try again',
};

function sameFor(codes, sentence) {
  return Object.fromEntries(codes.split(' ').map((code) => [code, sentence]));
}

/** The classes of errors whose messages are meant for operators; by name, because the libs may not be built yet. */
const FOR_OPERATORS = new Set(['Refusal', 'CannotStart', 'RedisUnusable', 'MigrationMismatch', 'ReplyError']);

/**
 * The problem in one line.
 *
 * @param {any} error
 * @param {import('./commands.mjs').Command} [command] field names are replaced by its flags
 */
export function explain(error, command) {
  const text = sentenceFor(error).replaceAll(/\s*\n\s*(?:- )?/g, ' ');
  return withoutPassword(withFlags(text, command));
}

function sentenceFor(error) {
  if (/^(?:NOAUTH|WRONGPASS) /.test(error.message)) return REDIS_LOGIN;
  if (error instanceof UsageError || error instanceof NotReady || isForOperators(error)) return error.message;
  const byMessage = BY_MESSAGE.find(([words]) => words.test(error.message));
  if (byMessage !== undefined) return byMessage[1];
  if (NO_ANSWER.test(error.code)) return nobodyAnswers(placeOf(error.errors?.[0] ?? error));
  // Prisma sets its own code; where it keeps that of Postgres depends on when the statement failed.
  const { originalCode } = error.meta?.driverAdapterError?.cause ?? error.cause ?? {};
  return (
    SENTENCES[error.code] ??
    SENTENCES[originalCode] ??
    `Unexpected error: ${error.message}; POSTHORN_DEBUG=1 shows where`
  );
}

/** By its own name, or by that of its class or of one that this extends. @param {any} error */
function isForOperators(error) {
  if (FOR_OPERATORS.has(error.name)) return true;
  for (let type = error.constructor; type?.name; type = Object.getPrototypeOf(type))
    if (FOR_OPERATORS.has(type.name)) return true;
  return false;
}

function nobodyAnswers(where) {
  return `Nothing answers ${where}: check that it is running, that the URL is correct, and that the network path to it is open`;
}

/** The address that the system tried to connect to. */
function placeOf({ address, port, hostname }) {
  if (address !== undefined) return `at ${address.includes(':') ? `[${address}]` : address}:${port}`;
  return hostname === undefined ? 'there' : `at ${hostname}`;
}

function withFlags(text, command) {
  const flags = Object.entries(command?.flags ?? {});
  const { operand } = command ?? {};
  return text.replaceAll(/`(\w+)`/g, (quoted, field) => {
    const found = flags.find(([name, about]) => (about.field ?? name) === field);
    if (field === operand?.name) return operand.value;
    return found === undefined ? quoted : `--${found[0]}`;
  });
}

/** Removes the login from every URL; a password may contain an `@`. @param {string} text */
export function withoutPassword(text) {
  return text.replaceAll(/(\w:\/\/)[^\s/]*@/g, '$1***@');
}

/** Where an error comes from, if the operator asks for it with POSTHORN_DEBUG. @param {any} error */
export function traceIfWanted(error) {
  return process.env.POSTHORN_DEBUG ? `${withoutPassword(traceOf(error))}\n` : '';
}

function traceOf(error) {
  const cause = error.cause instanceof Error ? `\nbecause of ${traceOf(error.cause)}` : '';
  return `${error.stack}${cause}`;
}
