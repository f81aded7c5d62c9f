import { execFileSync } from 'node:child_process';
import { chmodSync, chownSync, mkdtempSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';

/** @typedef {{ uid: number, gid: number }} Account */

/**
 * The account that Postgres runs as. It refuses to run as root, so under root it runs as `postgres` if the machine has that account, or
 * else as `nobody`, which every machine has.
 *
 * @returns {Account | undefined} undefined for an ordinary user, whose own account is used
 */
export function unprivilegedAccount() {
  if (process.getuid?.() !== 0) return undefined;
  for (const name of ['postgres', 'nobody']) {
    const uid = idOf('-u', name);
    const gid = idOf('-g', name);
    if (uid !== undefined && gid !== undefined) return { uid, gid };
  }
  throw new Error(
    'Postgres does not run as root, and this machine has no account `nobody`: run as an ordinary user.',
  );
}

function idOf(flag, name) {
  try {
    return Number(execFileSync('id', [flag, name], { stdio: ['ignore', 'pipe', 'ignore'] }).toString());
  } catch {
    return undefined;
  }
}

/** Whether an account may traverse all folders down to a path. */
function canReach(account, path) {
  const parent = dirname(path);
  const { mode, uid } = statSync(parent);
  const passable = (mode & 0o001) !== 0 || uid === account.uid;
  return passable && (parent === path || canReach(account, parent));
}

/**
 * How to run a program as an account that must reach some paths. Below a closed folder, such as root's home, the program keeps the
 * capability to traverse folders, and no other of root's.
 *
 * @param {Account | undefined} account
 * @param {{ command: string, args: string[], paths: string[] }} program
 * @returns {{ command: string, args: string[], uid?: number, gid?: number }}
 * @throws when it cannot be given that capability
 */
export function asAccount(account, { command, args, paths }) {
  if (account === undefined) return { command, args };
  if ([command, ...paths].every((path) => canReach(account, path))) return { command, args, ...account };
  const capabilities = '-all,+dac_override';
  const identity = [`--reuid=${account.uid}`, `--regid=${account.gid}`, '--clear-groups'];
  // Without this bit, access(2) ignores the capabilities of all users but root, and initdb considers its own binary not executable.
  const rights = [
    '--securebits=+no_setuid_fixup',
    `--inh-caps=${capabilities}`,
    `--ambient-caps=${capabilities}`,
  ];
  const flags = [...identity, ...rights];
  try {
    execFileSync('setpriv', [...flags, 'true'], { stdio: 'ignore' });
  } catch (error) {
    throw new Error(
      `Postgres does not run as root, and no other account may enter ${dirname(command)}: move the checkout to where everybody may, such as /srv, or run as an ordinary user.`,
      { cause: error },
    );
  }
  return { command: 'setpriv', args: [...flags, command, ...args] };
}

/** Gives a folder to an account. @param {Account | undefined} account @param {string} path */
export function giveTo(account, path) {
  if (account !== undefined) chownSync(path, account.uid, account.gid);
}

/** Makes a temporary folder that the other account may enter, too. @param {string} name @returns {string} its path */
export function makeTemporaryFolder(name) {
  const path = mkdtempSync(join(tmpdir(), `posthorn-${name}-`));
  chmodSync(path, 0o755);
  return path;
}
