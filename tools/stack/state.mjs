import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { basename, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { isAlive } from './processes.mjs';
import { ROOT } from './runtime.mjs';

/** The folder for everything that the local stack writes. */
export const STATE_FOLDER = join(ROOT, '.posthorn');

/** For scripts: the addresses of everything. Exists exactly while the stack is up. */
export const STACK_FILE = join(STATE_FOLDER, 'stack.json');

/** The workspace and its API keys, kept for the next `up`. */
export const WORKSPACE_FILE = join(STATE_FOLDER, 'workspace.json');

/** The encryption keys for the secrets in the local database, kept for the next `up`. */
export const SECRETS_FILE = join(STATE_FOLDER, 'secrets.json');

/** The process that supervises the stack; exists from the first step of `up` until the last step of its end. */
const SUPERVISOR_FILE = join(STATE_FOLDER, 'supervisor.json');

/** Long enough for a process that checked at the same moment to write its claim. */
const CLAIMED_AFTER_MS = 100;

const LOG_FOLDER = join(STATE_FOLDER, 'logs');

/** The suffix of the previous run's log. */
const PREVIOUS = '.previous.log';

const LARGEST_LOG_BYTES = 16 * 1024 * 1024;

export function makeStateFolder() {
  try {
    // Not recursive: when creating several folders on a read-only file system, Node reports that the first one does not exist.
    mkdirSync(STATE_FOLDER);
  } catch (error) {
    if (error.code !== 'EEXIST') throw error;
  }
  mkdirSync(LOG_FOLDER, { recursive: true, mode: 0o700 });
  // When root runs the stack, Postgres runs under another account and must be able to enter this folder; secret files have permissions of
  // their own.
  chmodSync(STATE_FOLDER, 0o755);
}

/** @returns {any} undefined when the file does not exist or is incomplete, as after a power failure */
export function readJson(file) {
  try {
    return JSON.parse(readFileSync(file, 'utf8'));
  } catch (error) {
    if (error.code === 'ENOENT' || error instanceof SyntaxError) return undefined;
    throw error;
  }
}

/** Writes the file atomically; only its owner may read it, because it contains keys. */
export function writeJson(file, value) {
  const unfinished = `${file}.${process.pid}`;
  writeFileSync(unfinished, `${JSON.stringify(value, null, 2)}\n`, { mode: 0o600 });
  renameSync(unfinished, file);
}

/** Whether the supervisor was killed; then the processes that it had started end within ORPHANS_GONE_AFTER_MS. */
export function wasKilled() {
  return existsSync(SUPERVISOR_FILE) && supervisorPid() === undefined;
}

/** Makes this process the supervisor. @throws when another one is */
export async function claimSupervision() {
  refuseOtherSupervisor();
  // Removes what a killed supervisor has left: its stack.json would look as if the stack were up.
  endSupervision();
  try {
    writeFileSync(SUPERVISOR_FILE, JSON.stringify({ pid: process.pid }), { mode: 0o600, flag: 'wx' });
  } catch (error) {
    if (error.code !== 'EEXIST') throw error;
  }
  // A process that checked at the same moment may have removed this file as that of a killed supervisor, and written its own; the last one
  // wins.
  await sleep(CLAIMED_AFTER_MS);
  refuseOtherSupervisor();
}

function refuseOtherSupervisor() {
  const pid = supervisorPid();
  if (pid !== undefined && pid !== process.pid)
    throw new Error(`Posthorn is being started by process ${pid}.`);
}

/** Removes the files that mark the stack as up, unless another process supervises it. */
export function endSupervision() {
  const pid = supervisorPid();
  if (pid !== undefined && pid !== process.pid) return;
  rmSync(STACK_FILE, { force: true });
  rmSync(SUPERVISOR_FILE, { force: true });
}

/**
 * The supervisor, if one is running.
 *
 * @returns {number | undefined} its pid
 */
export function supervisorPid() {
  const pid = readJson(SUPERVISOR_FILE)?.pid;
  return typeof pid === 'number' && isSupervisor(pid) ? pid : undefined;
}

/** Whether a process is a supervisor. A zombie has no command line, and so is not. @param {number} pid */
export function isSupervisor(pid) {
  return isAlive(pid) && commandOf(pid).includes('up.mjs');
}

/** The command line is compared, because a pid may be reused. */
function commandOf(pid) {
  try {
    if (existsSync(`/proc/${pid}/cmdline`)) return readFileSync(`/proc/${pid}/cmdline`, 'utf8');
    return execFileSync('ps', ['-o', 'command=', '-p', String(pid)], {
      stdio: ['ignore', 'pipe', 'ignore'],
    }).toString();
  } catch {
    return '';
  }
}

/**
 * Starts a new log file; the previous run's is kept beside it.
 *
 * @param {string} name
 * @returns {string} its path
 */
export function newLogFile(name) {
  const file = join(LOG_FOLDER, `${name}.log`);
  if (existsSync(file)) renameSync(file, join(LOG_FOLDER, `${name}${PREVIOUS}`));
  return file;
}

/** Truncates each log file that has become too large; its content is kept beside it, in place of the previous run's. */
export function truncateLargeLogs() {
  // People delete logs, and the folder with them; that must not stop what is running.
  if (!existsSync(LOG_FOLDER)) return;
  for (const name of readdirSync(LOG_FOLDER)) {
    const file = join(LOG_FOLDER, name);
    const { size } = statSync(file, { throwIfNoEntry: false }) ?? { size: 0 };
    if (name.endsWith(PREVIOUS) || size <= LARGEST_LOG_BYTES) continue;
    try {
      // Copied, not renamed: the writer has the file open for appending.
      copyFileSync(file, join(LOG_FOLDER, `${basename(name, '.log')}${PREVIOUS}`));
    } catch {
      // When the disk is full, free space is worth more than the old log.
    }
    truncateSync(file);
  }
}
