import { join } from 'node:path';
import { unprivilegedAccount } from '../stack/account.mjs';
import { freePort } from '../stack/ports.mjs';
import { hasEnded, run, startServer, stopProcess, tail } from '../stack/processes.mjs';
import { nodeBinary } from '../stack/runtime.mjs';

/** @typedef {import('./build-images.mjs').Images} Images */
/** @typedef {import('./services.mjs').ComposedService} ComposedService */
/** @typedef {import('../stack/processes.mjs').Command} Command */
/** @typedef {{ databaseUrl: string, redis: number, smtp: number }} Outside the database, and the ports of the others */

const HEALTHY_WITHIN_MS = 60_000;

/**
 * A service as its image and Compose start it, with addresses of this machine in place of the network's names.
 *
 * @param {ComposedService} service
 * @param {Images} images
 * @param {Outside} outside
 * @param {string} directory for its log
 */
export async function containerOf({ name, target, environment, graceMs }, images, outside, directory) {
  const { root, workdir, env, user, cmd = [], healthcheck = [] } = await images.build(target);
  const port = await freePort();
  const given = {
    PATH: process.env.PATH,
    ...env,
    ...environment,
    DATABASE_URL: outside.databaseUrl,
    HTTP_PORT: `${port}`,
    METRICS_PORT: `${await freePort()}`,
    ...('REDIS_URL' in environment && { REDIS_URL: `redis://127.0.0.1:${outside.redis}` }),
    ...('SMTP_URL' in environment && { SMTP_URL: `smtp://127.0.0.1:${outside.smtp}` }),
  };
  const account = user === 'root' ? undefined : unprivilegedAccount();
  const command = {
    command: nodeBinary(),
    args: cmd.slice(1),
    env: given,
    cwd: join(root, workdir),
    ...account,
  };
  return new Container({
    name,
    port,
    command,
    probe: healthcheck.slice(1),
    graceMs,
    logFile: join(directory, `${name}.log`),
  });
}

/** A service that runs from its image. */
class Container {
  /** @type {import('node:child_process').ChildProcess | undefined} */
  #child;

  /**
   * @param {{ name: string, port: number, command: Command, probe: string[], graceMs: number, logFile: string }} options `probe`: the
   *   command of the health check
   */
  constructor({ name, port, command, probe, graceMs, logFile }) {
    this.name = name;
    this.port = port;
    this.command = command;
    this.probe = probe;
    this.graceMs = graceMs;
    this.logFile = logFile;
  }

  /** Resolves when it is healthy. */
  async start() {
    const isUp = () =>
      run({ ...this.command, args: this.probe }).then(
        () => true,
        () => false,
      );
    const { name, logFile, command } = this;
    this.#child = await startServer({ ...command, name, logFile, isUp, withinMs: HEALTHY_WITHIN_MS });
  }

  /** @throws when it does not exit cleanly within the time that Compose allows */
  async stop() {
    const child = this.#child;
    if (child === undefined) return;
    await stopProcess(child, { withinMs: this.graceMs });
    if (child.exitCode !== 0)
      throw new Error(
        `${this.name} ended with ${child.signalCode ?? child.exitCode}:\n${tail(this.logFile)}`,
      );
  }

  /** Kills it, whatever its state. */
  async kill() {
    if (this.#child !== undefined && !hasEnded(this.#child))
      await stopProcess(this.#child, { signal: 'SIGKILL' });
  }
}
