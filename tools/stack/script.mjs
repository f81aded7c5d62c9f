import { parseArgs } from 'node:util';
import { say } from './progress.mjs';

/** What an operator can mend about an error of the system, by its code. @type {Record<string, (error: any) => string>} */
const MENDS = {
  EACCES: notAllowed,
  EPERM: notAllowed,
  EROFS: ({ path }) =>
    `${path} cannot be written: the file system is read-only. Use a checkout that can be written.`,
  ENOSPC: ({ path }) => `The disk is full${path ? `, at ${path}` : ''}: make room, then run this again.`,
};

function notAllowed({ syscall, path, message }) {
  if (syscall === 'kill') return 'Another account has started Posthorn here: stop it as that one.';
  return path === undefined
    ? message
    : `This account may not use ${path}: run this as the account that owns it, or give it to yours with chown.`;
}

/** What went wrong, for a person who must mend it. @param {any} error @returns {string} */
export function describeFault(error) {
  return MENDS[error.code]?.(error) ?? error.message ?? String(error);
}

/**
 * What all programs here have in common: `--help`, options that are refused if there is no such one (exit code 2), and errors in
 * place of stack traces (exit code 1).
 *
 * @template {NonNullable<import('node:util').ParseArgsConfig['options']>} Options
 * @param {object} about
 * @param {string} about.help
 * @param {Options} about.options beside `--help`
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
    // Node's next sentence is about what no program here takes.
    say(`${error.message.split('. ')[0]}; --help shows what there is.`);
    process.exitCode = 2;
    return undefined;
  }
}
