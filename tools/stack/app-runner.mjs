import { keepRunning } from './keep-running.mjs';
import { hasEnded, isHealthy, startProcess, stopProcess, tail, waitUntil } from './processes.mjs';
import { say } from './progress.mjs';
import { nodeBinary, withInstalledBinaries } from './runtime.mjs';
import { newLogFile } from './state.mjs';

const READY_WITHIN_MS = 60_000;

/** Runs one app, and restarts it whenever it exits, until it is stopped. */
export class AppRunner {
  #stopping = new AbortController();
  /** @type {Promise<import('node:child_process').ChildProcess> | undefined} */
  #latestStart;
  /** @type {import('node:child_process').ChildProcess | undefined} */
  #child;

  /**
   * @param {object} options
   * @param {string} options.name
   * @param {number} options.port
   * @param {number} options.metricsPort
   * @param {Record<string, string>} options.env
   * @param {() => void} options.onRestart called when the app has a new pid
   */
  constructor({ name, port, metricsPort, env, onRestart }) {
    this.name = name;
    this.ports = [port, metricsPort];
    this.url = `http://127.0.0.1:${port}`;
    this.healthUrl = `${this.url}/health/ready`;
    this.metricsUrl = `http://127.0.0.1:${metricsPort}/metrics`;
    this.logFile = newLogFile(name);
    this.env = withInstalledBinaries({ ...env, HTTP_PORT: String(port), METRICS_PORT: String(metricsPort) });
    this.onRestart = onRestart;
  }

  get pid() {
    return this.#child?.pid;
  }

  /** Starts the app and waits until it is ready. @throws with the end of its log when it does not become ready */
  async start() {
    const { name, logFile, ports } = this;
    const start = () => this.#startOne();
    try {
      await keepRunning({ name, logFile, ports, start, signal: this.#stopping.signal });
    } catch (error) {
      throw new Error(`${name} did not start: ${error.message}. The end of ${logFile}:\n${tail(logFile)}`);
    }
  }

  async #startOne() {
    const isFirst = this.#child === undefined;
    const { name, env, logFile } = this;
    const args = [`apps/${name}/dist/main.js`];
    this.#latestStart = startProcess({ command: nodeBinary(), args, env, logFile });
    const child = await this.#latestStart;
    this.#child = child;
    if (!isFirst) this.onRestart();
    const isReady = () => {
      if (hasEnded(child)) throw new Error(`it ended with ${child.signalCode ?? `code ${child.exitCode}`}`);
      return isHealthy(this.healthUrl);
    };
    // After a restart, it may also have to wait until Postgres or Redis has been restarted.
    const withinMs = isFirst ? READY_WITHIN_MS : Infinity;
    await waitUntil(isReady, { withinMs, what: 'becoming ready' });
    return child;
  }

  /** @param {number} withinMs after which it is killed */
  async stop(withinMs) {
    this.#stopping.abort();
    const child = await this.#latestStart?.catch(() => undefined);
    if (child === undefined || hasEnded(child)) return;
    const exitedInTime = await stopProcess(child, { withinMs });
    if (!exitedInTime) say(`${this.name} was still running after ${withinMs / 1000} s and was killed.`);
  }
}
