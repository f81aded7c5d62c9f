import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { basename } from 'node:path';
import { fileURLToPath } from 'node:url';
import { setTimeout as sleep } from 'node:timers/promises';
import { freePort, stackPiece } from './stack.ts';

const ROOT = fileURLToPath(new URL('../../../', import.meta.url));
const READY_WITHIN_MS = 180_000;
const ASKED_EVERY_MS = 50;

export type AppName = 'gateway' | 'sender' | 'scheduler' | 'webhook-dispatcher' | 'inbound' | 'dashboard';

/** How a process ended: with a code of its own, or by a signal. */
export interface Exit {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

/** Runs a program that is written in TypeScript, and what it imports of ours, from the sources. */
export const NODE_ON_SOURCES: readonly string[] = [
  process.execPath,
  '--conditions=@posthorn/source',
  '--experimental-transform-types',
  '--disable-warning=ExperimentalWarning',
];

/** All of this spec. The environment of the tests reads them when a test has failed, from outside of their modules: `tools/test/environment.mjs`. */
const programs: ProgramUnderTest[] = [];
Object.assign(globalThis, { programsUnderTest: programs });

/** A program that runs beside the test. It dies with the test, however that ends. */
export class ProgramUnderTest {
  readonly pid: number;
  /** Resolves when it has ended. */
  readonly exit: Promise<Exit>;
  readonly #child: ChildProcess;
  #output = '';

  /** @param name for the file that its output is kept in */
  private constructor(
    readonly name: string,
    child: ChildProcess,
  ) {
    programs.push(this);
    this.#child = child;
    this.pid = child.pid ?? -1;
    child.stdout?.on('data', (chunk: Buffer) => (this.#output += chunk.toString()));
    child.stderr?.on('data', (chunk: Buffer) => (this.#output += chunk.toString()));
    this.exit = new Promise((resolve) => {
      child.once('close', (code, signal) => resolve({ code, signal }));
    });
  }

  /**
   * Starts Node on a script.
   *
   * @param script relative to the root of the checkout
   * @param env added to this process's environment; undefined takes a variable away
   */
  static async start(
    script: string,
    { args = [], env = {} }: { args?: string[]; env?: Record<string, string | undefined> } = {},
  ): Promise<ProgramUnderTest> {
    const { endWithParent } = await stackPiece('processes');
    const { NODE_OPTIONS: _jestOnly, ...inherited } = process.env;
    const child = spawn(process.execPath, [script, ...args], {
      cwd: ROOT,
      env: { ...inherited, ...env },
      stdio: ['ignore', 'pipe', 'pipe'],
      detached: true,
    });
    endWithParent(child);
    await once(child, 'spawn');
    return new ProgramUnderTest(nameOf(script), child);
  }

  /** Everything that it has written so far. */
  get output(): string {
    return this.#output;
  }

  get hasEnded(): boolean {
    return this.#child.exitCode !== null || this.#child.signalCode !== null;
  }

  /** Sends a signal: SIGKILL to crash it, SIGSTOP to freeze it, SIGCONT to thaw it. */
  kill(signal: NodeJS.Signals): void {
    this.#child.kill(signal);
  }

  /** Asks it to end, waits, and says how it ended; a program that does not listen within `withinMs` is killed. */
  async stop({ withinMs = 25_000 } = {}): Promise<Exit> {
    const { stopProcess } = await stackPiece('processes');
    this.kill('SIGCONT');
    await stopProcess(this.#child, { withinMs });
    return this.exit;
  }

  /** Waits until it has written something that matches. @throws with its output when it ends or takes too long */
  async wrote(pattern: RegExp | string, { withinMs = READY_WITHIN_MS } = {}): Promise<void> {
    const has = () =>
      typeof pattern === 'string' ? this.#output.includes(pattern) : pattern.test(this.#output);
    await this.until(has, `write ${String(pattern)}`, withinMs);
  }

  /** Waits until something is so, as long as the program lives. @throws with its output */
  async until(
    isSo: () => Promise<boolean> | boolean,
    what: string,
    withinMs = READY_WITHIN_MS,
  ): Promise<void> {
    const deadline = performance.now() + withinMs;
    while (!(await isSo())) {
      const why = this.hasEnded
        ? 'it ended'
        : performance.now() > deadline
          ? `${withinMs / 1000} s passed`
          : undefined;
      if (why !== undefined) throw new Error(`The program did not ${what}: ${why}.\n${this.#output}`);
      await sleep(ASKED_EVERY_MS);
    }
  }
}

/** `apps/sender/dist/main.js` → sender, `tools/up.mjs` → up. */
function nameOf(script: string): string {
  return /^apps\/([^/]+)\//.exec(script)?.[1] ?? basename(script).replace(/\.\w+$/, '');
}

/** A built app that runs beside the test. */
export interface AppUnderTest {
  readonly program: ProgramUnderTest;
  /** Where its HTTP is, without a slash at the end. */
  readonly url: string;
  readonly port: number;
  readonly metricsUrl: string;
}

/**
 * Starts a built app, on a free port unless it is given one, and waits until it is ready.
 *
 * @param env what the app needs, at least DATABASE_URL and REDIS_URL
 * @throws with the app's output when it does not become ready
 */
export async function startApp(
  name: AppName,
  env: Record<string, string | undefined>,
): Promise<AppUnderTest> {
  const { isHealthy } = await stackPiece('processes');
  const [free, metricsPort] = await Promise.all([freePort(), freePort()]);
  const port = Number(env['HTTP_PORT'] ?? free);
  const url = `http://127.0.0.1:${port}`;
  const program = await ProgramUnderTest.start(`apps/${name}/dist/main.js`, {
    env: { HTTP_PORT: String(port), METRICS_PORT: String(metricsPort), ...env },
  });
  try {
    await program.until(() => isHealthy(`${url}/health/ready`), 'become ready');
  } catch (error) {
    program.kill('SIGKILL');
    throw error;
  }
  return { program, url, port, metricsUrl: `http://127.0.0.1:${metricsPort}/metrics` };
}
