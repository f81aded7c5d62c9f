import { userInfo } from 'node:os';

/** Who gives the commands, as the audit log names them: the account of the machine. @returns {string} */
export function accountName() {
  try {
    return userInfo().username;
  } catch {
    // An account without a name, as containers have them.
    return `uid ${process.getuid?.() ?? 'unknown'}`;
  }
}
