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
 * @property {string} [value] what stands after it, such as `NAME`; without one it is a switch
 * @property {string} sentence
 * @property {boolean} [required]
 * @property {string} [field] the name that use cases have for it, where it is another
 */

/**
 * @typedef {Record<string, any>} Given the flags that were given, by their names
 */

/**
 * @typedef {object} Command
 * @property {string} name one word or two
 * @property {string} [otherName]
 * @property {string} sentence
 * @property {Record<string, Flag>} flags
 * @property {{ name: string, value: string, sentence: string }} [operand] a value that must be given without a flag, under this name
 * @property {string[]} [exactlyOne] of these flags exactly one must be given
 * @property {string[]} [atMostOne] of these flags one may be given
 * @property {[string, string][]} [neverTogether] pairs of flags that do not go together
 * @property {string[]} [atLeastOne] of these flags at least one must be given
 * @property {string} example what stands after `npm run posthorn -- `
 * @property {boolean} [worksAlone] it opens no office, because it works without a database too
 * @property {(result: any) => boolean} [isDone] whether the exit code is 0; by default it is
 * @property {(office: import('./office.mjs').Office, given: Given) => Promise<any>} run gives what `--json` prints
 * @property {(result: any, given: Given) => string} show the same for people
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
