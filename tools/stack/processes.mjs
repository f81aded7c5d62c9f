import { spawn } from 'node:child_process';
import { closeSync, existsSync, mkdirSync, openSync, readFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { ROOT } from './runtime.mjs';

/** The signals that ask a program to stop. @type {readonly NodeJS.Signals[]} */
const STOP_SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'];

/**
 * Resolves with the first signal that asks this program to stop. Further ones change nothing: a second Ctrl-C would otherwise end it in the
 * middle of its clean-up.
 *
 * @returns {Promise<void>}
 */
export function askedToStop() {
  return new Promise((resolve) => {
    for (const signal of STOP_SIGNALS) process.on(signal, () => resolve());
  });
}

/**
 * @typedef {object} Command
 * @property {string} command
 * @property {string[]} [args]
 * @property {NodeJS.ProcessEnv} [env]
 * @property {string} [cwd]
 * @property {number} [uid]
 * @property {number} [gid]
 */

/** The running processes, each the leader of a process group. @type {Set<import('node:child_process').ChildProcess>} */
const running = new Set();

/** @param {import('node:child_process').ChildProcess} child */
function remember(child) {
  running.add(child);
  child.once('close', () => running.delete(child));
}

/** How long a process may take to exit when it is interrupted. */
const ENDED_WITHIN_MS = 4_000;

/** Ends everything that this program has started and not yet stopped, such as an interrupted build. */
export async function endAll() {
  await Promise.all([...running].map(endGroup));
}

async function endGroup(child) {
  signalGroup(child, 'SIGINT');
  await exitsWithin(child, ENDED_WITHIN_MS);
  // npm exits at once, and may leave the processes that it runs.
  signalGroup(child, 'SIGKILL');
  await exitOf(child);
}

/** @param {import('node:child_process').ChildProcess} child @param {NodeJS.Signals} signal */
function signalGroup(child, signal) {
  try {
    process.kill(-Number(child.pid), signal);
  } catch {
    // It does not lead a process group, or not any more.
    child.kill(signal);
  }
}

/**
 * Starts a process that writes into a log file and has a session of its own, so that a Ctrl-C in the terminal reaches only the supervisor,
 * which then stops everything in order. It ends when this program does, even if that is killed.
 *
 * @param {Command & { logFile: string }} options
 * @returns {Promise<import('node:child_process').ChildProcess>} once it runs
 * @throws when the command cannot be run at all
 */
export async function startProcess({
  logFile,
  command,
  args = [],
  env = process.env,
  cwd = ROOT,
  ...account
}) {
  // Somebody may have removed the folder since.
  mkdirSync(dirname(logFile), { recursive: true, mode: 0o700 });
  const log = openSync(logFile, 'a');
  try {
    const child = spawn(command, args, { cwd, env, ...account, detached: true, stdio: ['ignore', log, log] });
    remember(child);
    // Errors are emitted later, too, when a signal cannot be sent.
    await new Promise((resolve, reject) => child.once('spawn', resolve).on('error', reject));
    endWithParent(child);
    return child;
  } finally {
    closeSync(log);
  }
}

/**
 * Starts a process and waits until it answers; otherwise stops it.
 *
 * @param {Command & { logFile: string, name: string, isUp: () => Promise<boolean | Error>, withinMs: number, stopSignal?: NodeJS.Signals, signal?: AbortSignal | undefined }} options
 *   `isUp`: whether it answers, as a condition of `waitUntil`; `signal`: aborted when it is not wanted any more
 * @returns {Promise<import('node:child_process').ChildProcess>}
 * @throws when it takes too long, or ends: with the end of its log; when it is not wanted any more
 */
export async function startServer({ name, isUp, withinMs, stopSignal = 'SIGTERM', signal, ...program }) {
  const child = await startProcess(program);
  const isUpUnlessEnded = () => {
    signal?.throwIfAborted();
    if (hasEnded(child)) throw new Error(`${name} did not start:\n${tail(program.logFile)}`);
    return isUp();
  };
  try {
    await waitUntil(isUpUnlessEnded, { withinMs, what: name });
    return child;
  } catch (error) {
    await stopProcess(child, { signal: stopSignal });
    throw error;
  }
}

/**
 * Runs a command to its end; it ends when this program does.
 *
 * @param {Command & { keepLines?: number, inTerminal?: boolean }} options `keepLines`: how many lines of its output an error
 * shows; `inTerminal`: it stays in this program's session, because `sudo` remembers passwords per session
 * @returns {Promise<string>} what it wrote to stdout: warnings on stderr, such as Node's, would make JSON unreadable
 * @throws with the end of all that it wrote, when it fails
 */
export function run({
  command,
  args = [],
  env = process.env,
  cwd = ROOT,
  keepLines = 30,
  inTerminal = false,
  ...account
}) {
  return new Promise((resolve, reject) => {
    const stdio = /** @type {['ignore', 'pipe', 'pipe']} */ (['ignore', 'pipe', 'pipe']);
    const child = spawn(command, args, { cwd, env, ...account, detached: !inTerminal, stdio });
    child.once('error', reject);
    if (child.pid === undefined) return;
    remember(child);
    endWithParent(child);
    let [output, all] = ['', ''];
    child.stdout.setEncoding('utf8').on('data', (text) => ((output += text), (all += text)));
    child.stderr.setEncoding('utf8').on('data', (text) => (all += text));
    child.once('close', (code, signal) => {
      if (code === 0) return resolve(output);
      const message = `${[command, ...args].join(' ')} ended with ${signal ?? code}:\n${lastLines(all, keepLines)}`;
      return reject(new Error(message));
    });
  });
}

/** @param {string} text */
function lastLines(text, count) {
  return text.trimEnd().split('\n').slice(-count).join('\n');
}

/** The end of a log file, to show why something did not start. @param {string} logFile */
export function tail(logFile) {
  return existsSync(logFile) ? lastLines(readFileSync(logFile, 'utf8'), 20) : '';
}

/** @param {import('node:child_process').ChildProcess} child */
export function hasEnded(child) {
  return child.exitCode !== null || child.signalCode !== null;
}

/** Resolves once a process has exited. @param {import('node:child_process').ChildProcess} child @returns {Promise<void>} */
export function exitOf(child) {
  return new Promise((resolve) => {
    if (hasEnded(child)) resolve();
    else child.once('exit', () => resolve());
  });
}

/** Whether a process exits within this time. @param {import('node:child_process').ChildProcess} child @param {number} ms @returns {Promise<boolean>} */
function exitsWithin(child, ms) {
  return new Promise((resolve) => {
    const timer = setTimeout(() => resolve(false), ms);
    void exitOf(child).then(() => {
      clearTimeout(timer);
      resolve(true);
    });
  });
}

/** @param {number} pid */
export function isAlive(pid) {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return error.code === 'EPERM';
  }
}

/**
 * Waits until a condition is true.
 *
 * @param {() => Promise<boolean | Error> | boolean} condition checked every 50 ms; an error is the reason why it is not true yet; if it throws,
 *   so does this
 * @param {{ withinMs: number, what: string }} limit
 */
export async function waitUntil(condition, { withinMs, what }) {
  const deadline = performance.now() + withinMs;
  for (;;) {
    const outcome = await condition();
    if (outcome === true) return;
    const reason = outcome instanceof Error ? `: ${outcome.message}` : '';
    if (performance.now() > deadline)
      throw new Error(`${what} took longer than ${withinMs / 1000} s${reason}`, { cause: outcome });
    await sleep(50);
  }
}

/** Whether a health endpoint answers 200. @param {string} url */
export async function isHealthy(url) {
  try {
    const answer = await fetch(url, { signal: AbortSignal.timeout(2_000) });
    await answer.arrayBuffer();
    return answer.status === 200;
  } catch {
    return false;
  }
}

/**
 * Asks a process to exit, and kills it if it does not.
 *
 * @param {import('node:child_process').ChildProcess} child
 * @param {{ signal?: NodeJS.Signals, withinMs?: number }} [options]
 * @returns {Promise<boolean>} whether it exited without being killed
 */
export async function stopProcess(child, { signal = 'SIGTERM', withinMs = 5_000 } = {}) {
  if (hasEnded(child)) return true;
  child.kill(signal);
  const exitedInTime = await exitsWithin(child, withinMs);
  if (!exitedInTime) child.kill('SIGKILL');
  await exitOf(child);
  return exitedInTime;
}

/** After a program was killed, the processes that should end with it are gone within this time. */
export const ORPHANS_GONE_AFTER_MS = 2_500;

/**
 * Ends a process group when this program ends, even if that is killed. The watchdog is a shell that waits until the pipe from this program
 * closes; it ends with the process, because its pid may be reused.
 *
 * @public Tests import it by the path of this file.
 * @param {import('node:child_process').ChildProcess} child leader of the group
 */
export function endWithParent(child) {
  const { pid } = child;
  if (pid === undefined || hasEnded(child)) return;
  const script = `cat >/dev/null; kill -INT ${pid} 2>/dev/null; sleep 2; kill -KILL -${pid} 2>/dev/null`;
  const shell = spawn('sh', ['-c', script], { detached: true, stdio: ['pipe', 'ignore', 'ignore'] });
  shell.on('error', () => undefined);
  shell.stdin.on('error', () => undefined);
  shell.unref();
  /** @type {import('node:net').Socket} */ (/** @type {unknown} */ (shell.stdin)).unref?.();
  child.once('exit', () => shell.kill('SIGKILL'));
}
