import { NotReady, UsageError } from './usage-error.mjs';

const MIGRATE = 'The database is not at the newest migration: run npm run migrate';
const LOGIN = 'The database refuses the login: correct the name and password in DATABASE_URL';
const AWAY = 'The database went away in between: see that it runs, look what was done, and try again';
const NOBODY =
  'Nobody answers there: see that it runs, that the URL is right, and that the way to it is open';

/** By SQLSTATE (https://www.postgresql.org/docs/current/errcodes-appendix.html) and by Prisma's codes. */
const SENTENCES = {
  '28P01': LOGIN,
  '28000': LOGIN,
  '3D000':
    'The server has no database of this name: correct DATABASE_URL, or create it and run npm run migrate',
  '42P01': MIGRATE,
  '42883': MIGRATE,
  '42703': MIGRATE,
  'P2021': MIGRATE,
  'P2022': MIGRATE,
  'ECONNREFUSED': NOBODY,
  'ENOTFOUND': NOBODY,
  'ETIMEDOUT': NOBODY,
  'P1001': AWAY,
  'P1002': AWAY,
  'P1008': AWAY,
  'P1017': AWAY,
};

/** These say themselves, and to the operator, what is wrong. */
const SPEAKING = new Set([
  'Refusal',
  'SettingsError',
  'DurabilityRefused',
  'MigrationMismatch',
  'ReplyError',
]);

/**
 * What is wrong, in one line.
 *
 * @param {any} error
 * @param {import('./commands.mjs').Command} [command] whose flags are named instead of the fields of the interface
 */
export function explain(error, command) {
  const text = sentenceFor(error).replaceAll(/\s*\n\s*(?:- )?/g, ' ');
  return withoutPassword(withFlags(text, command));
}

function sentenceFor(error) {
  const speaks = error instanceof UsageError || error instanceof NotReady;
  if (speaks || SPEAKING.has(error.name) || SPEAKING.has(error.constructor?.name)) return error.message;
  // The pool of connections gives this one no code.
  if (error.message === 'timeout exceeded when trying to connect') return NOBODY;
  const sentence = SENTENCES[error.code] ?? SENTENCES[error.cause?.originalCode];
  if (sentence !== undefined) return sentence;
  return `That went wrong, and should not have: ${error.message}; POSTHORN_DEBUG=1 shows where`;
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

/** Takes the login out of every URL. @param {string} text */
export function withoutPassword(text) {
  return text.replaceAll(/(\w:\/\/)[^\s/@]*@/g, '$1***@');
}
