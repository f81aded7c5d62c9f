import { dirname } from 'node:path';
import { parseArgs } from 'node:util';
import { say } from './progress.mjs';

/** What an operator can do about a system error, by its code. @type {Record<string, (error: any) => string>} */
const REMEDIES = {
  EACCES: notAllowed,
  EPERM: notAllowed,
  EROFS: ({ path }) =>
    `${path} cannot be written: the file system is read-only. Use a checkout that can be written.`,
  ENOSPC: diskFull,
};

function notAllowed({ syscall, path, message }) {
  if (syscall === 'kill') return 'Another account has started Posthorn here: stop it as that account.';
  return path === undefined
    ? message
    : `This account may not use ${path}: run this as the account that owns it, or give it to yours with chown.`;
}

function diskFull({ path = '' }) {
  return `The disk is full${path ? `, at ${path}` : ''}: make room, then run this again.`;
}

/** Temporary files are created outside the checkout, in TMPDIR. */
function noTemporaryFolder({ path, message }) {
  return `There can be no temporary files in ${dirname(path)} (${message.split(',')[0]}): make it a folder that this account may write to, or set TMPDIR to another.`;
}

/** What a child process prints when the disk is full. */
const DISK_FULL = /No space left on device|\bENOSPC\b/;

/** What the migration says of a database with migrations of another branch, or with one that has been edited since: see `migration-history.ts`. */
const OTHER_MIGRATIONS = /which this release lacks|was changed after it was applied/;
const BEGIN_ANEW =
  'If this is the database that npm run up keeps in .posthorn, npm run nuke removes it with its data, and npm run up starts afresh.';

/** Describes an error for the person who must fix it. @param {any} error @returns {string} */
export function describeFault(error) {
  if (error.syscall === 'mkdtemp' && error.code !== 'ENOSPC') return noTemporaryFolder(error);
  const remedy = REMEDIES[error.code]?.(error);
  if (remedy !== undefined) return remedy;
  const message = error.message ?? String(error);
  if (DISK_FULL.test(message)) return `${message}\n${diskFull({})}`;
  return OTHER_MIGRATIONS.test(message) ? `${message}\n${BEGIN_ANEW}` : message;
}

/**
 * Runs a program with what all programs here have in common: `--help`, unknown options refused (exit code 2), and readable errors instead of
 * stack traces (exit code 1).
 *
 * @template {NonNullable<import('node:util').ParseArgsConfig['options']>} Options
 * @param {object} about
 * @param {string} about.help
 * @param {Options} about.options besides `--help`
 * @param {(values: ReturnType<typeof parseArgs<{ options: Options }>>['values']) => unknown} about.work
 */
export async function runScript({ help, options, work }) {
  /** @type {any} */
  const values = readOptions({ ...options, help: { type: 'boolean', short: 'h' } });
  if (values === undefined) return;
  if (values.help) return say(help);
  try {
    await work(values);
  } catch (error) {
    say(describeFault(error));
    process.exitCode = 1;
  }
}

function readOptions(options) {
  try {
    return parseArgs({ options }).values;
  } catch (error) {
    // Node's second sentence explains a syntax that no program here accepts.
    say(`${error.message.split('. ')[0]}; --help shows what there is.`);
    process.exitCode = 2;
    return undefined;
  }
}
