import { COMMANDS } from './commands.mjs';
import { GENERAL_FLAGS } from './parse.mjs';
import { aligned } from './print.mjs';

/** What precedes the name of a command. */
const CALL = 'npm run posthorn --';

/** Lists all commands with their descriptions. @returns {string} */
export function overview() {
  const lines = aligned(COMMANDS.map(({ name, sentence }) => [`  ${name}`, sentence]));
  return `${CALL} COMMAND [flags]
The operators’ command line. It works on the database at DATABASE_URL (in the environment or in .env), or else on
that of the stack that npm run up started here.

${lines.join('\n')}

help COMMAND shows how a command is called. Every command takes --json, for machines; then call it as
npm run --silent ${CALL.slice('npm run '.length)} …, so that npm adds nothing to the output.
Exit codes: 0 done, 1 not done (stderr says why, in a line), 2 called wrongly.`;
}

/** The usage of one command. @param {import('./commands.mjs').Command} command @returns {string} */
export function helpOn(command) {
  const { otherName, sentence, example } = command;
  const flags = Object.entries({ ...command.flags, ...GENERAL_FLAGS });
  const { operand } = command;
  const given = operand === undefined ? [] : [[`  ${operand.value}`, operand.sentence]];
  const lines = aligned([
    ...given,
    ...flags.map(([flag, about]) => [`  ${spelled(flag, about)}`, about.sentence]),
  ]);
  const also = otherName === undefined ? '' : ` \`${otherName}\` does the same.`;
  return `${CALL} ${callOf(command)}
${sentence}${also}

${lines.join('\n')}

Example: ${CALL} ${example}`;
}

/** @param {import('./commands.mjs').Command} command */
function callOf({ name, operand, flags, exactlyOne = [] }) {
  const choice = exactlyOne.map((flag) => spelled(flag, flags[flag])).join(' | ');
  const others = Object.entries(flags)
    .filter(([flag]) => !exactlyOne.includes(flag))
    .map(([flag, about]) => (about.required ? spelled(flag, about) : `[${spelled(flag, about)}]`));
  return [
    name,
    ...(operand === undefined ? [] : [operand.value]),
    ...(choice === '' ? [] : [`(${choice})`]),
    ...others,
  ].join(' ');
}

/** @param {string} flag @param {import('./commands.mjs').Flag | undefined} about */
function spelled(flag, about) {
  return about?.value === undefined ? `--${flag}` : `--${flag} ${about.value}`;
}
