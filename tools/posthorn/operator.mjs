import { userInfo } from 'node:os';
import { NotReady } from './usage-error.mjs';

/** What the audit log can name somebody by. */
const NAME = /^[^\p{C}]{1,100}$/u;

/**
 * Who gives the commands, as the audit log names them: POSTHORN_OPERATOR, for in a container everybody has the same account, or else the account of
 * the machine.
 *
 * @param {NodeJS.ProcessEnv} [env]
 * @returns {string}
 * @throws NotReady for a name that is none
 */
export function operatorName(env = process.env) {
  const said = env.POSTHORN_OPERATOR?.trim();
  if (!said) return accountName();
  if (NAME.test(said)) return said;
  throw new NotReady(
    'POSTHORN_OPERATOR is more than 100 characters, or has some that cannot be seen: set it to your name',
  );
}

function accountName() {
  try {
    return userInfo().username;
  } catch {
    // An account without a name, as containers have them.
    return `uid ${process.getuid?.() ?? 'unknown'}`;
  }
}
