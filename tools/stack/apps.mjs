import { setTimeout as sleep } from 'node:timers/promises';
import { hasEnded, isHealthy, leash, startProcess, stopProcess, tail, waitUntil } from './processes.mjs';
import { say } from './progress.mjs';
import { nodeBinary, withInstalledBinaries } from './runtime.mjs';
import { newLogFile } from './state.mjs';

const READY_WITHIN_MS = 60_000;

/** How long to wait before an app that died is started again, in milliseconds: after its first death, its second … */
const BACK_OFF_MS = [1_000, 2_000, 5_000, 10_000];
const LONGEST_BACK_OFF_MS = 30_000;

/** An app that lived this long has earned a fresh start of the back-off. */
const LIVED_WELL_MS = 60_000;

/** Keeps one app running until it is stopped. */
export class AppKeeper {
  #stopping = new AbortController();
  #deaths = 0;
  #unleash = () => {};
  /** @type {import('node:child_process').ChildProcess | undefined} */
  #child;

  /**
   * @param {object} options
   * @param {string} options.name
   * @param {string} options.script relative to the checkout
   * @param {number} options.port
   * @param {number} options.metricsPort
   * @param {Record<string, string>} options.env
   * @param {() => void} options.onRestart called when the app has a new pid
   */
  constructor({ name, script, port, metricsPort, env, onRestart }) {
    this.name = name;
    this.url = `http://127.0.0.1:${port}`;
    this.healthUrl = `${this.url}/health/ready`;
    this.metricsUrl = `http://127.0.0.1:${metricsPort}/metrics`;
    this.logFile = newLogFile(name);
    this.script = script;
    this.env = withInstalledBinaries({ ...env, HTTP_PORT: String(port), METRICS_PORT: String(metricsPort) });
    this.onRestart = onRestart;
  }

  get pid() {
    return this.#child?.pid;
  }

  /** Starts it and waits until it is ready. @throws with the end of its log when it does not become ready */
  async start() {
    const child = await this.#spawn();
    const isReady = () => {
      if (hasEnded(child)) throw new Error(`it ended with ${child.signalCode ?? `code ${child.exitCode}`}`);
      return isHealthy(this.healthUrl);
    };
    try {
      await waitUntil(isReady, { withinMs: READY_WITHIN_MS, what: 'becoming ready' });
    } catch (error) {
      const reason = `${this.name} did not start: ${error.message}. The end of ${this.logFile}:\n${tail(this.logFile)}`;
      throw new Error(reason);
    }
    void this.#watch(child);
  }

  async #spawn() {
    const child = await startProcess({
      command: nodeBinary(),
      args: [this.script],
      env: this.env,
      logFile: this.logFile,
    });
    const unleash = leash(/** @type {number} */ (child.pid));
    child.once('exit', unleash);
    this.#unleash = unleash;
    this.#child = child;
    return child;
  }

  async #watch(child) {
    const begun = performance.now();
    await new Promise((resolve) => (hasEnded(child) ? resolve(undefined) : child.once('exit', resolve)));
    if (this.#stopping.signal.aborted) return;
    if (performance.now() - begun > LIVED_WELL_MS) this.#deaths = 0;
    const pauseMs = BACK_OFF_MS[this.#deaths] ?? LONGEST_BACK_OFF_MS;
    this.#deaths += 1;
    const how = child.signalCode ?? `code ${child.exitCode}`;
    say(`${this.name} ended with ${how}; starting it again in ${pauseMs / 1000} s. Its log: ${this.logFile}`);
    await this.#startAgain(pauseMs);
  }

  async #startAgain(pauseMs) {
    try {
      await sleep(pauseMs, undefined, { signal: this.#stopping.signal });
    } catch {
      return;
    }
    const child = await this.#spawn();
    this.onRestart();
    void this.#watch(child);
  }

  /** @param {number} withinMs after which it is killed */
  async stop(withinMs) {
    this.#stopping.abort();
    const child = this.#child;
    if (child === undefined || hasEnded(child)) return;
    this.#unleash();
    const wentByItself = await stopProcess(child, { withinMs });
    if (!wentByItself) say(`${this.name} was still at work after ${withinMs / 1000} s and was killed.`);
  }
}
