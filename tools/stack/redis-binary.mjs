import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { run } from './processes.mjs';

const NAMES = ['redis-server', 'valkey-server'];

/**
 * @typedef {object} Installer
 * @property {string} manager
 * @property {string[][]} commands
 * @property {string[][]} [otherwise] to run if these fail
 * @property {string[]} [underSystemd] to run afterwards where systemd runs
 * @property {string[]} [options] of all these commands, when they run here
 * @property {boolean} [asUser] whether it refuses to run as root
 */

const APT_INSTALL = ['apt-get', 'install', '-y', '--no-install-recommends', 'redis-server'];

/** How to install it with each package manager; the first manager found is used. @type {Installer[]} */
export const INSTALLERS = [
  {
    manager: 'apt-get',
    commands: [['apt-get', 'update'], APT_INSTALL],
    // Updating fails if any repository is gone, such as one of somebody else; the lists that are there may be good enough.
    otherwise: [APT_INSTALL],
    // A machine that has just been started may be installing updates, and holds the lock meanwhile.
    options: ['-o', 'DPkg::Lock::Timeout=600', '-o', 'Acquire::Retries=5'],
    // Debian's package starts a server of its own, now and at every boot, which nobody has asked for.
    underSystemd: ['systemctl', 'disable', '--now', 'redis-server.service'],
  },
  {
    manager: 'dnf',
    commands: [['dnf', 'install', '-y', 'valkey']],
    otherwise: [['dnf', 'install', '-y', 'redis']],
  },
  { manager: 'apk', commands: [['apk', 'add', '--no-cache', 'redis']] },
  { manager: 'brew', commands: [['brew', 'install', 'redis']], asUser: true },
];

/**
 * Finds the machine's Redis or Valkey server; installs it with the package manager where that is permitted.
 *
 * @returns {Promise<string>} a path
 * @throws with one line that says what to do
 */
export async function redisBinary() {
  const found = findBinary();
  if (found !== undefined) return found;
  const installer = INSTALLERS.find(({ manager }) => which(manager) !== undefined);
  const prefix = installer && (installer.asUser ? [] : rootPrefix());
  if (installer === undefined || prefix === undefined) throw new Error(whatToDo(installer));
  try {
    await install(installer, prefix);
  } catch (error) {
    throw new Error(`${whatToDo(installer)} (tried, but: ${String(error.message).split('\n').at(-1)})`);
  }
  const installed = findBinary();
  if (installed === undefined) throw new Error(whatToDo(installer));
  return installed;
}

function findBinary() {
  for (const name of NAMES) {
    const path = which(name);
    if (path !== undefined) return path;
  }
  return undefined;
}

/** @param {string} name */
function which(name) {
  // Debian installs servers in folders that may be missing in an ordinary user's PATH.
  const PATH = `${process.env.PATH ?? ''}:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/opt/homebrew/bin`;
  try {
    const env = { ...process.env, PATH };
    return execFileSync('sh', ['-c', `command -v ${name}`], { env, stdio: ['ignore', 'pipe', 'ignore'] })
      .toString()
      .trim();
  } catch {
    return undefined;
  }
}

/** The prefix for a command that needs root: none for root, `sudo -n` where it needs no password. */
function rootPrefix() {
  if (process.getuid?.() === 0) return [];
  try {
    execFileSync('sudo', ['-n', 'true'], { stdio: 'ignore' });
    return ['sudo', '-n'];
  } catch {
    return undefined;
  }
}

/** RUNLEVEL keeps Debian's package from starting its server where there is no systemd, as in containers. */
const VARIABLES = ['DEBIAN_FRONTEND=noninteractive', 'RUNLEVEL=1', 'HOMEBREW_NO_AUTO_UPDATE=1'];

/** @param {Installer} installer @param {string[]} prefix */
export async function install({ commands, otherwise, underSystemd, options = [] }, prefix) {
  const withOptions = (all) => all.map((words) => [...words, ...options]);
  // With `env`, because sudo drops the variables of whoever calls it.
  const runAll = async (all) => {
    for (const words of all) {
      const [command = '', ...args] = [...prefix, 'env', ...VARIABLES, ...words];
      await run({ command, args, inTerminal: true });
    }
  };
  try {
    await runAll(withOptions(commands));
  } catch (error) {
    if (otherwise === undefined) throw error;
    await runAll(withOptions(otherwise));
  }
  // If that fails, its server is in nobody's way: ours listens at a port that is free.
  if (underSystemd !== undefined && existsSync('/run/systemd/system'))
    await runAll([underSystemd]).catch(() => undefined);
}

function whatToDo(installer) {
  const command = installer?.commands.at(-1)?.join(' ');
  const how =
    command === undefined
      ? 'install Redis 7 or Valkey'
      : `run \`${installer?.asUser ? '' : 'sudo '}${command}\``;
  return `No redis-server or valkey-server was found: ${how}, or set REDIS_URL to a server of yours.`;
}
