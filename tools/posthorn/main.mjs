import { COMMANDS } from './commands.mjs';
import { explain, withoutPassword } from './explain.mjs';
import { describe, helpOn, overview } from './help.mjs';
import { inOffice } from './office.mjs';
import { parse } from './parse.mjs';
import { UsageError } from './usage-error.mjs';

/**
 * Does what was called.
 *
 * @param {string[]} args
 * @returns {Promise<number>} the exit code: 0 done, 1 not done, 2 called wrongly
 */
export async function main(args) {
  // Whoever reads may stop reading, as `head` does.
  process.stdout.on('error', () => process.exit());
  /** @type {import('./commands.mjs').Command | undefined} */
  let command;
  try {
    const call = parse(args);
    command = call.command;
    const { text, isDone } = await answerTo(call);
    await new Promise((resolve) => process.stdout.write(`${text}\n`, resolve));
    return isDone ? 0 : 1;
  } catch (error) {
    process.stderr.write(`posthorn: ${explain(error, command)}\n`);
    if (process.env.POSTHORN_DEBUG) process.stderr.write(`${withoutPassword(traceOf(error))}\n`);
    return error instanceof UsageError ? 2 : 1;
  }
}

/** @param {import('./parse.mjs').Call} call @returns {Promise<{ text: string, isDone: boolean }>} what is printed */
async function answerTo({ command, given, json, help }) {
  if (command === undefined || help) return { text: helpOf(command, json), isDone: true };
  const result = command.worksAlone
    ? await command.run(/** @type {any} */ (undefined), given)
    : await inOffice((office) => command.run(office, given));
  return {
    text: json ? asJson(result) : command.show(result, given),
    isDone: command.isDone?.(result) ?? true,
  };
}

/** @param {import('./commands.mjs').Command | undefined} command @param {boolean} json */
function helpOf(command, json) {
  if (command === undefined) return json ? asJson(COMMANDS.map(describe)) : overview();
  return json ? asJson(describe(command)) : helpOn(command);
}

function asJson(value) {
  return JSON.stringify(value, null, 2);
}

function traceOf(error) {
  const cause = error.cause instanceof Error ? `\nbecause of ${traceOf(error.cause)}` : '';
  return `${error.stack}${cause}`;
}
