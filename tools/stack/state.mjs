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

/** Everything that the local stack writes. */
export const STATE_FOLDER = join(ROOT, '.posthorn');

/** For scripts: where everything is. It is there exactly while the stack is up. */
export const STACK_FILE = join(STATE_FOLDER, 'stack.json');

/** The workspace and its keys, kept for the next `up`. */
export const WORKSPACE_FILE = join(STATE_FOLDER, 'workspace.json');

/** What encrypts the secrets of the local database, kept for the next `up`. */
export const SECRETS_FILE = join(STATE_FOLDER, 'secrets.json');

/** Which process keeps the stack; there from the first step of `up` until the last one of its end. */
const SUPERVISOR_FILE = join(STATE_FOLDER, 'supervisor.json');

const CLAIMED_AFTER_MS = 100;

const LOG_FOLDER = join(STATE_FOLDER, 'logs');

/** How the name of a log ends that is kept beside the newer one. */
const PREVIOUS = '.previous.log';

const LARGEST_LOG_BYTES = 16 * 1024 * 1024;

export function makeStateFolder() {
  // By itself: of several folders, Node says on a read-only file system that the first one does not exist.
  if (!existsSync(STATE_FOLDER)) mkdirSync(STATE_FOLDER);
  mkdirSync(LOG_FOLDER, { recursive: true, mode: 0o700 });
  // Postgres passes through it under another account when the stack is root's; what is secret is closed by itself.
  chmodSync(STATE_FOLDER, 0o755);
}

/** @returns {any} undefined when there is no such file, or half a one, of a machine that lost its power */
export function readJson(file) {
  if (!existsSync(file)) return undefined;
  try {
    return JSON.parse(readFileSync(file, 'utf8'));
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}

/** Writes whole or not at all; only its owner may read it, because there are keys in it. */
export function writeJson(file, value) {
  const unfinished = `${file}.${process.pid}`;
  writeFileSync(unfinished, `${JSON.stringify(value, null, 2)}\n`, { mode: 0o600 });
  renameSync(unfinished, file);
}

/** Whether the process that kept the stack was killed: what it had started is gone only after LEASH_MS. */
export function wasKilled() {
  return existsSync(SUPERVISOR_FILE) && supervisorPid() === undefined;
}

/** Makes this process the one that keeps the stack. @throws when another one does */
export async function claimSupervision() {
  leaveItToOthers();
  // What a process that was killed has left: stack.json would be taken for that of a stack that is up.
  endSupervision();
  try {
    writeFileSync(SUPERVISOR_FILE, JSON.stringify({ pid: process.pid }), { mode: 0o600, flag: 'wx' });
  } catch (error) {
    if (error.code !== 'EEXIST') throw error;
  }
  // Who looked at the same moment may have removed this file as that of a process that was killed: the last one stays.
  await sleep(CLAIMED_AFTER_MS);
  leaveItToOthers();
}

function leaveItToOthers() {
  const pid = supervisorPid();
  if (pid !== undefined && pid !== process.pid)
    throw new Error(`Posthorn is being started by process ${pid}.`);
}

/** Removes the signs of a stack that is up, unless another process keeps it. */
export function endSupervision() {
  const pid = supervisorPid();
  if (pid !== undefined && pid !== process.pid) return;
  rmSync(STACK_FILE, { force: true });
  rmSync(SUPERVISOR_FILE, { force: true });
}

/**
 * The process that keeps the stack, if one does.
 *
 * @returns {number | undefined} its pid
 */
export function supervisorPid() {
  const pid = readJson(SUPERVISOR_FILE)?.pid;
  return typeof pid === 'number' && isSupervisor(pid) ? pid : undefined;
}

/** Whether a process keeps a stack; one that has ended, and that nobody has seen to yet, has no command any more. @param {number} pid */
export function isSupervisor(pid) {
  return isAlive(pid) && commandOf(pid).includes('up.mjs');
}

/** A pid may have become somebody else's since it was written down. */
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
 * A fresh log file; the one of the run before is kept beside it.
 *
 * @param {string} name
 * @returns {string} its path
 */
export function newLogFile(name) {
  const file = join(LOG_FOLDER, `${name}.log`);
  if (existsSync(file)) renameSync(file, join(LOG_FOLDER, `${name}${PREVIOUS}`));
  return file;
}

/** Begins each log file anew that has become too large; what it had is kept beside it, like the one of the run before. */
export function boundLogs() {
  // People remove logs, and the folder with them: that is not to end what runs.
  if (!existsSync(LOG_FOLDER)) return;
  for (const name of readdirSync(LOG_FOLDER)) {
    const file = join(LOG_FOLDER, name);
    const { size } = statSync(file, { throwIfNoEntry: false }) ?? { size: 0 };
    if (name.endsWith(PREVIOUS) || size <= LARGEST_LOG_BYTES) continue;
    try {
      // Not renamed: who writes has it open, and appends.
      copyFileSync(file, join(LOG_FOLDER, `${basename(name, '.log')}${PREVIOUS}`));
    } catch {
      // On a full disk, room is worth more.
    }
    truncateSync(file);
  }
}
