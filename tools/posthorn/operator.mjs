import { userInfo } from 'node:os';
import { NotReady } from './usage-error.mjs';

/** The names that the audit log accepts. */
const NAME = /^[^\p{C}]{1,100}$/u;

/**
 * The name of the operator for the audit log: POSTHORN_OPERATOR (in a container everybody has the same account), or else the account's
 * name.
 *
 * @param {NodeJS.ProcessEnv} [env]
 * @returns {string}
 * @throws NotReady for an invalid name
 */
export function operatorName(env = process.env) {
  const said = env.POSTHORN_OPERATOR?.trim();
  if (!said) return accountName();
  if (NAME.test(said)) return said;
  throw new NotReady(
    'POSTHORN_OPERATOR is more than 100 characters, or has invisible ones: set it to your name',
  );
}

function accountName() {
  try {
    return userInfo().username;
  } catch {
    // The account has no name, as is usual in containers.
    return `uid ${process.getuid?.() ?? 'unknown'}`;
  }
}
