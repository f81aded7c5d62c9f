import { COMMANDS } from './commands.mjs';
import { explain, traceIfWanted } from './explain.mjs';
import { helpOn, overview } from './help.mjs';
import { withCommandContext } from './command-context.mjs';
import { parse } from './parse.mjs';
import { UsageError } from './usage-error.mjs';

/**
 * Runs a command, and prints its output.
 *
 * @param {string[]} args
 * @returns {Promise<number>} the exit code
 */
export async function main(args) {
  // An error of stdout is reported to the callback below; without a listener it would also be thrown.
  process.stdout.on('error', () => undefined);
  const { code, stdout, stderr } = await carryOut(args);
  /** @type {NodeJS.ErrnoException | null | undefined} */
  const fault = await new Promise((resolve) => process.stdout.write(stdout, resolve));
  process.stderr.write(stderr);
  // The reader may close the pipe, as `head` does.
  if (fault && fault.code !== 'EPIPE') {
    process.stderr.write(
      `posthorn: its output is lost, although the command was carried out (${fault.message})\n`,
    );
    return 1;
  }
  return code;
}

/**
 * Runs a command.
 *
 * @param {string[]} args
 * @returns {Promise<{ code: number, stdout: string, stderr: string }>} the output to print, and the exit code: 0 success, 1
 * failure, 2 wrong usage
 */
export async function carryOut(args) {
  /** @type {import('./commands.mjs').Command | undefined} */
  let command;
  try {
    const call = parse(args);
    command = call.command;
    const { text, isDone } = await answerTo(call);
    return { code: isDone ? 0 : 1, stdout: `${text}\n`, stderr: '' };
  } catch (error) {
    const stderr = `posthorn: ${explain(error, command)}\n${traceIfWanted(error)}`;
    return { code: isWrongCall(error) ? 2 : 1, stdout: '', stderr };
  }
}

/** Whether the call itself is wrong, as with an unknown flag or an invalid value: it can never succeed. @param {any} error */
function isWrongCall(error) {
  return error instanceof UsageError || (error.name === 'Refusal' && error.statusCode === 400);
}

/** @param {import('./parse.mjs').Call} call @returns {Promise<{ text: string, isDone: boolean }>} what is printed */
async function answerTo({ command, given, json, help }) {
  if (command === undefined || help) return { text: helpOf(command, json), isDone: true };
  const result = command.withoutDatabase
    ? await command.run(/** @type {any} */ (undefined), given)
    : await withCommandContext((context) => command.run(context, given));
  return {
    text: json ? asJson(result) : command.show(result, given),
    isDone: command.isDone?.(result) ?? true,
  };
}

/** For machines, a command as it is declared: JSON has no functions. @param {import('./commands.mjs').Command | undefined} command @param {boolean} json */
function helpOf(command, json) {
  if (command === undefined) return json ? asJson(COMMANDS) : overview();
  return json ? asJson(command) : helpOn(command);
}

function asJson(value) {
  return JSON.stringify(value, null, 2);
}
