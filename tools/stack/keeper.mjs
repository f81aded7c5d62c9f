import { setTimeout as sleep } from 'node:timers/promises';
import { canListen } from './ports.mjs';
import { hasEnded } from './processes.mjs';
import { say } from './progress.mjs';

/** The delays before restarts, in milliseconds: after the first exit, the second … */
const BACK_OFF_MS = [1_000, 2_000, 5_000, 10_000];
const MAX_BACK_OFF_MS = 30_000;

/** A process that ran this long resets the back-off. */
const LIVED_WELL_MS = 60_000;

/**
 * @typedef {object} Kept
 * @property {string} name for people
 * @property {string} logFile
 * @property {number[]} ports what it listens on at 127.0.0.1
 * @property {() => Promise<import('node:child_process').ChildProcess>} start resolves when it is at work; called again
 *   whenever its process has ended
 * @property {AbortSignal} signal aborted before it is stopped on purpose
 */

/**
 * Runs a program, and restarts it whenever it exits, until it is stopped on purpose. Each exit and restart is printed.
 *
 * @param {Kept} kept
 * @throws when it does not start the first time
 */
export async function keepRunning(kept) {
  const child = await kept.start();
  void watch(child, kept);
}

/** @param {import('node:child_process').ChildProcess} child @param {Kept} kept */
async function watch(child, kept, deathsBefore = 0) {
  const begun = performance.now();
  if (!hasEnded(child)) await new Promise((resolve) => child.once('exit', resolve));
  let deaths = performance.now() - begun > LIVED_WELL_MS ? 0 : deathsBefore;
  /** @type {import('node:child_process').ChildProcess | undefined} */
  let next;
  let what = `ended with ${child.signalCode ?? `code ${child.exitCode}`}`;
  while (next === undefined) {
    if (kept.signal.aborted) return;
    const pauseMs = BACK_OFF_MS[deaths] ?? MAX_BACK_OFF_MS;
    deaths += 1;
    say(`${kept.name} ${what}; starting it again in ${pauseMs / 1000} s. Its log: ${kept.logFile}`);
    await sleep(pauseMs, undefined, { signal: kept.signal }).catch(() => undefined);
    if (kept.signal.aborted) return;
    try {
      next = await startAgain(kept);
    } catch (error) {
      what = `did not start (${error.message.split('\n').at(-1)})`;
    }
  }
  if (!kept.signal.aborted) say(`${kept.name} is up again.`);
  void watch(next, kept, deaths);
}

/** @param {Kept} kept */
async function startAgain({ ports, start, signal }) {
  for (const port of ports) {
    if (!(await canListen(port, '127.0.0.1'))) throw new Error(`another program has taken its port ${port}`);
  }
  // Stopping ends processes that are already starting; none may be started after that.
  signal.throwIfAborted();
  return start();
}
