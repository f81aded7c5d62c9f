import { parseArgs } from 'node:util';
import { closestName } from './closest-name.mjs';
import { findCommand, isCommandGroup } from './find-command.mjs';
import { UsageError } from './usage-error.mjs';

/** @typedef {import('./commands.mjs').Command} Command */
/** @typedef {{ command: Command | undefined, given: import('./commands.mjs').Given, json: boolean, help: boolean }} Call */

/** Flags that every command has. @type {Record<string, import('./commands.mjs').Flag>} */
export const GENERAL_FLAGS = {
  json: { sentence: 'prints JSON, for machines' },
  help: { sentence: 'shows how the command is called' },
};

/** Words that may precede a command, or be given without one. */
const HELP_WORDS = new Set(['-h', '--help', 'help', '--json']);

/**
 * Parses the arguments.
 *
 * @param {string[]} args
 * @returns {Call}
 * @throws UsageError
 */
export function parse(args) {
  refuseOtherEncodings(args);
  const start = args.findIndex((arg) => !HELP_WORDS.has(arg));
  const before = start < 0 ? args : args.slice(0, start);
  const rest = start < 0 ? [] : args.slice(start);
  const asksHelp = before.some((word) => word !== '--json');
  const asksJson = before.includes('--json');
  if (rest.length === 0 || (isCommandGroup(rest) && (asksHelp || rest.includes('--help'))))
    return { command: undefined, given: {}, json: asksJson || rest.includes('--json'), help: true };
  const { command, after } = findCommand(rest);
  const { json = asksJson, help = asksHelp, ...given } = readFlags(command, after);
  if (!help) checkRequiredFlags(command, given);
  return { command, given, json, help };
}

/**
 * Node has put a replacement character for each byte that is not UTF-8, as from a terminal or a file in Latin-1: a person would be erased by an address that
 * nobody has.
 */
function refuseOtherEncodings(args) {
  const garbled = args.find((arg) => arg.includes('\uFFFD'));
  if (garbled === undefined) return;
  throw new UsageError(
    `${JSON.stringify(garbled)} is not UTF-8; set the terminal, or save the file that it comes from, as UTF-8`,
  );
}

function readFlags(command, args) {
  const flags = { ...command.flags, ...GENERAL_FLAGS };
  const options = Object.fromEntries(
    Object.entries(flags).map(([name, { value }]) => [name, optionOf(value)]),
  );
  const { tokens } = parseArgs({
    args: args.map((arg) => (arg === '-h' ? '--help' : arg)),
    options,
    strict: false,
    allowPositionals: true,
    tokens: true,
  });
  const given = {};
  const { operand } = command;
  for (const token of tokens) {
    if (token.kind === 'option-terminator') continue;
    if (token.kind === 'positional' && operand !== undefined && !(operand.name in given)) {
      given[operand.name] = token.value;
      continue;
    }
    const { name, value } = readToken(command, flags, token);
    if (name in given) throw new UsageError(`--${name} is given twice; give it once`);
    given[name] = value;
  }
  return given;
}

/** @returns {{ type: 'string' | 'boolean' }} */
function optionOf(value) {
  return { type: value === undefined ? 'boolean' : 'string' };
}

function readToken(command, flags, token) {
  if (token.kind !== 'option') throw tooManyWords(command, token);
  const { name, rawName, value, inlineValue } = token;
  if (!Object.hasOwn(flags, name)) throw unknownFlag(command, flags, rawName);
  const wanted = flags[name].value;
  if (wanted === undefined) {
    if (value !== undefined) throw new UsageError(`--${name} takes no value; write it alone`);
    return { name, value: true };
  }
  if (value === undefined || (!inlineValue && value.startsWith('-')))
    throw new UsageError(`--${name} needs a value: --${name}=${wanted}`);
  return { name, value };
}

function tooManyWords({ name, flags, operand }, { value }) {
  const words = `\`${name}\` does not take ${JSON.stringify(value)}`;
  if (operand === undefined && Object.keys(flags).length === 0)
    return new UsageError(`${words}; call it without anything else`);
  return new UsageError(`${words}; put quotes around a value of several words, and flags before each value`);
}

function unknownFlag({ name }, flags, rawName) {
  const meant = closestName(rawName.replace(/^-+/, ''), Object.keys(flags));
  const mend = meant === undefined ? `${name} --help shows which it has` : `did you mean --${meant}?`;
  return new UsageError(`\`${name}\` has no flag ${rawName}; ${mend}`);
}

/**
 * Says of all that is missing at once, and gives an example where nothing was given.
 *
 * @param {Command} command @param {import('./commands.mjs').Given} given
 */
function checkRequiredFlags(command, given) {
  const { name, example } = command;
  const needs = missingIn(command, given);
  if (needs.length > 0) {
    const such = Object.keys(given).length === 0 ? `, such as: ${example}` : '';
    throw new UsageError(`\`${name}\` needs ${needs.join(', and ')}${such}; see ${name} --help`);
  }
  refuseConflictingFlags(command, given);
}

/** @param {Command} command @param {import('./commands.mjs').Given} given */
function missingIn({ flags, operand, exactlyOne = [], atLeastOne = [] }, given) {
  const named = (all) => all.map((flag) => `--${flag}`).join(', ');
  const required = Object.keys(flags).filter((flag) => flags[flag]?.required && !(flag in given));
  const isOne = exactlyOne.filter((flag) => flag in given).length === 1;
  const isAny = atLeastOne.some((flag) => flag in given);
  return [
    ...(operand === undefined || operand.name in given ? [] : [`${operand.value} (${operand.sentence})`]),
    ...(required.length === 0 ? [] : [named(required)]),
    ...(exactlyOne.length === 0 || isOne ? [] : [`exactly one of ${named(exactlyOne)}`]),
    ...(atLeastOne.length === 0 || isAny ? [] : [`at least one of ${named(atLeastOne)}`]),
  ];
}

/** @param {Command} command @param {import('./commands.mjs').Given} given */
function refuseConflictingFlags({ name, neverTogether = [] }, given) {
  const clash = neverTogether
    .map((flags) => flags.filter((flag) => flag in given))
    .find(({ length }) => length > 1);
  if (clash === undefined) return;
  const named = clash.map((flag) => `--${flag}`).join(' and ');
  throw new UsageError(`\`${name}\` does not take ${named} together; see ${name} --help`);
}
