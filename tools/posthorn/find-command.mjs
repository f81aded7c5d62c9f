import { closestName } from './closest-name.mjs';
import { COMMANDS } from './commands.mjs';
import { UsageError } from './usage-error.mjs';

const NAMES = COMMANDS.flatMap(({ name, otherName }) =>
  otherName === undefined ? [name] : [name, otherName],
);

/**
 * The command that the arguments begin with. The longest name wins: `pause list` is not `pause`.
 *
 * @param {string[]} args
 * @returns {{ command: import('./commands.mjs').Command, after: string[] }} and the arguments after its name
 * @throws UsageError with the most similar name
 */
export function findCommand(args) {
  const words = wordsOf(args);
  for (let length = words.length; length > 0; length -= 1) {
    const name = words.slice(0, length).join(' ');
    const command = COMMANDS.find((each) => each.name === name || each.otherName === name);
    if (command !== undefined) return { command, after: args.slice(length) };
  }
  throw unknownCommand(words, args[0]);
}

/** Whether the arguments are only the first word of several commands. @param {string[]} args */
export function isCommandGroup(args) {
  const [word = '', ...others] = wordsOf(args);
  return others.length === 0 && !NAMES.includes(word) && commandsOfGroup(word).length > 0;
}

/** Up to two words before the first flag; `--version`, which is the name of a command, is not a flag. @param {string[]} args */
function wordsOf(args) {
  const firstFlag = args.findIndex((arg) => arg.startsWith('-') && !NAMES.includes(arg));
  return (firstFlag < 0 ? args : args.slice(0, firstFlag)).slice(0, 2);
}

/** @param {string} word */
function commandsOfGroup(word) {
  return NAMES.filter((name) => name.startsWith(`${word} `));
}

function unknownCommand(words, first) {
  if (words.length === 0)
    return new UsageError(`Name the command before ${first}; help shows which there are`);
  const group = commandsOfGroup(words[0]);
  if (words.length === 1 && group.length > 0)
    return new UsageError(`\`${words[0]}\` alone is not a command; there is \`${group.join('`, `')}\``);
  const called = words.join(' ');
  const meant = closestName(called, NAMES) ?? closestName(words[0], NAMES);
  const mend = meant === undefined ? 'help shows which there are' : `did you mean \`${meant}\`?`;
  return new UsageError(`There is no command ${JSON.stringify(called)}; ${mend}`);
}
