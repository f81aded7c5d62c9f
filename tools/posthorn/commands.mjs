import { AUDIT_COMMANDS } from './commands/audit.mjs';
import { DOCTOR_COMMANDS } from './commands/doctor.mjs';
import { IDENTITY_COMMANDS } from './commands/identities.mjs';
import { KEY_COMMANDS } from './commands/keys.mjs';
import { OPERATOR_COMMANDS } from './commands/operators.mjs';
import { RECIPIENT_COMMANDS } from './commands/recipients.mjs';
import { SECRET_COMMANDS } from './commands/secrets.mjs';
import { SENDING_COMMANDS } from './commands/sending.mjs';
import { VERSION_COMMANDS } from './commands/version.mjs';
import { WORKSPACE_COMMANDS } from './commands/workspaces.mjs';

/**
 * @typedef {object} Flag
 * @property {string} [value] the placeholder of its value in the help, such as `NAME`; a flag without one is a switch
 * @property {string} sentence
 * @property {boolean} [required]
 * @property {string} [field] its name in use cases, if that is different
 */

/**
 * @typedef {Record<string, any>} Given the values of the given flags, by name
 */

/**
 * @typedef {object} Command
 * @property {string} name one or two words
 * @property {string} [otherName]
 * @property {string} sentence
 * @property {Record<string, Flag>} flags
 * @property {{ name: string, value: string, sentence: string }} [operand] a required positional argument; `name`: its key in Given
 * @property {string[]} [exactlyOne] flags of which exactly one must be given
 * @property {string[][]} [neverTogether] groups of flags of which at most one may be given
 * @property {string[]} [atLeastOne] flags of which at least one must be given
 * @property {string} example the arguments after `npm run posthorn -- `
 * @property {boolean} [withoutDatabase] whether it runs without a database, and so without a context
 * @property {(result: any) => boolean} [isDone] whether the exit code is 0; default: always
 * @property {(context: import('./command-context.mjs').CommandContext, given: Given) => Promise<any>} run returns what `--json` prints
 * @property {(result: any, given: Given) => string} show formats the result for people
 */

/** All commands for operators; the parser and the help use this list. @type {Command[]} */
export const COMMANDS = [
  ...WORKSPACE_COMMANDS,
  ...KEY_COMMANDS,
  ...IDENTITY_COMMANDS,
  ...SENDING_COMMANDS,
  ...AUDIT_COMMANDS,
  ...SECRET_COMMANDS,
  ...RECIPIENT_COMMANDS,
  ...OPERATOR_COMMANDS,
  ...DOCTOR_COMMANDS,
  ...VERSION_COMMANDS,
];
