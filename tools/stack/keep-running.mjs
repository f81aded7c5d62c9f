import { setTimeout as sleep } from 'node:timers/promises';
import { canListen } from './ports.mjs';
import { exitOf } from './processes.mjs';
import { say } from './progress.mjs';

/** The delays before restarts, in milliseconds: after the first exit, the second … */
const BACK_OFF_MS = [1_000, 2_000, 5_000, 10_000];
const MAX_BACK_OFF_MS = 30_000;

/** A process that ran this long resets the back-off. */
const STABLE_AFTER_MS = 60_000;

/**
 * @typedef {object} Program
 * @property {string} name for people
 * @property {string} logFile
 * @property {number[]} ports what it listens on at 127.0.0.1
 * @property {() => Promise<import('node:child_process').ChildProcess>} start resolves once it is ready; called again
 *   whenever its process has ended
 * @property {AbortSignal} signal aborted before it is stopped on purpose
 */

/**
 * Runs a program, and restarts it whenever it exits, until it is stopped on purpose. Each exit and restart is printed.
 *
 * @param {Program} program
 * @throws when it does not start the first time
 */
export async function keepRunning(program) {
  const child = await program.start();
  void restartOnExit(child, program);
}

/** @param {import('node:child_process').ChildProcess} child @param {Program} program */
async function restartOnExit(child, program, exitsBefore = 0) {
  const begun = performance.now();
  await exitOf(child);
  let exits = performance.now() - begun > STABLE_AFTER_MS ? 0 : exitsBefore;
  /** @type {import('node:child_process').ChildProcess | undefined} */
  let next;
  let what = `ended with ${child.signalCode ?? `code ${child.exitCode}`}`;
  while (next === undefined) {
    if (program.signal.aborted) return;
    const pauseMs = BACK_OFF_MS[exits] ?? MAX_BACK_OFF_MS;
    exits += 1;
    say(`${program.name} ${what}; starting it again in ${pauseMs / 1000} s. Its log: ${program.logFile}`);
    await sleep(pauseMs, undefined, { signal: program.signal }).catch(() => undefined);
    if (program.signal.aborted) return;
    try {
      next = await startAgain(program);
    } catch (error) {
      what = `did not start (${error.message.split('\n').at(-1)})`;
    }
  }
  if (!program.signal.aborted) say(`${program.name} is up again.`);
  void restartOnExit(next, program, exits);
}

/** @param {Program} program */
async function startAgain({ ports, start, signal }) {
  for (const port of ports) {
    if (!(await canListen(port, '127.0.0.1'))) throw new Error(`another program has taken its port ${port}`);
  }
  // Stopping also ends a process that is being started, but not one that would be started after that.
  signal.throwIfAborted();
  return start();
}
