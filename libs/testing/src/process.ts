import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { basename } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { freePort, stackModule } from './stack.ts';
import { programOptions } from './run-to-end.ts';

const TIMEOUT_MS = 180_000;
const POLL_INTERVAL_MS = 50;
/** Longer than the apps' own deadline for their shutdown, after which Node still writes its compile cache, perhaps to a busy disk. */
const STOPPED_WITHIN_MS = 60_000;

export type AppName = 'gateway' | 'sender' | 'scheduler' | 'webhook-dispatcher' | 'inbound' | 'dashboard';

/** How a process ended: with an exit code, or by a signal. */
export interface Exit {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

/** The command that runs a TypeScript program, and our packages that it imports, from the sources. */
export const NODE_ON_SOURCES: readonly string[] = [
  process.execPath,
  '--conditions=@posthorn/source',
  `--import=${new URL('../../../tools/test/typescript-hooks.mjs', import.meta.url).href}`,
];

/** All programs of this test file, for `tools/test/environment.mjs`, which reads their output when a test has failed. */
const programs: ProgramUnderTest[] = [];
Object.assign(globalThis, { programsUnderTest: programs });

/** A program that runs as a child process. It ends with the test, however that ends. */
export class ProgramUnderTest {
  readonly pid: number;
  /** Resolves once it has ended. */
  readonly exit: Promise<Exit>;
  readonly #child: ChildProcess;
  #output = '';
  /** Whether it has ended and everything that it wrote has been read. */
  #isClosed = false;

  /** @param name of the file that its output is kept in */
  private constructor(
    readonly name: string,
    child: ChildProcess,
  ) {
    programs.push(this);
    this.#child = child;
    this.pid = child.pid ?? -1;
    // A chunk may end in the middle of a character.
    for (const stream of [child.stdout, child.stderr])
      stream?.setEncoding('utf8').on('data', (text: string) => (this.#output += text));
    this.exit = new Promise((resolve) => {
      child.once('close', (code, signal) => {
        this.#isClosed = true;
        resolve({ code, signal });
      });
    });
  }

  /**
   * Starts Node on a script.
   *
   * @param script relative to the root of the checkout
   * @param env added to this process's environment; undefined removes a variable
   */
  static async start(
    script: string,
    { args = [], env = {} }: { args?: string[]; env?: Record<string, string | undefined> } = {},
  ): Promise<ProgramUnderTest> {
    const { endWithParent } = await stackModule('processes');
    const child = spawn(process.execPath, [script, ...args], {
      ...programOptions(env),
      stdio: ['ignore', 'pipe', 'pipe'],
      detached: true,
    });
    endWithParent(child);
    await once(child, 'spawn');
    return new ProgramUnderTest(nameOf(script), child);
  }

  /** Everything that it has written to stdout and stderr so far. */
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

  /** Stops it with SIGTERM and waits for its end; a program that takes far too long is killed. */
  async stop(): Promise<Exit> {
    const { stopProcess } = await stackModule('processes');
    this.kill('SIGCONT');
    await stopProcess(this.#child, { withinMs: STOPPED_WITHIN_MS });
    return this.exit;
  }

  /** Waits until its output matches. @throws with its output when it ends or takes too long */
  async waitForOutput(pattern: RegExp | string): Promise<void> {
    const has = () =>
      typeof pattern === 'string' ? this.#output.includes(pattern) : pattern.test(this.#output);
    await this.waitUntil(has, `write ${String(pattern)}`);
  }

  /** Waits until a condition is true. @throws with its output when it ends or takes too long */
  async waitUntil(condition: () => Promise<boolean> | boolean, what: string): Promise<void> {
    const deadline = performance.now() + TIMEOUT_MS;
    for (;;) {
      // Read first: what it wrote last may come after it has ended.
      const isOver = this.#isClosed;
      if (await condition()) return;
      const why = isOver
        ? 'it ended'
        : performance.now() > deadline
          ? `${TIMEOUT_MS / 1000} s passed`
          : undefined;
      if (why !== undefined) throw new Error(`The program did not ${what}: ${why}.\n${this.#output}`);
      await sleep(POLL_INTERVAL_MS);
    }
  }
}

/** `apps/sender/dist/main.js` → sender, `tools/up.mjs` → up. */
function nameOf(script: string): string {
  return /^apps\/([^/]+)\//.exec(script)?.[1] ?? basename(script).replace(/\.\w+$/, '');
}

/** A built app that runs as a child process. */
export interface AppUnderTest {
  readonly program: ProgramUnderTest;
  /** Its base URL, without a slash at the end. */
  readonly url: string;
  readonly port: number;
  readonly metricsUrl: string;
}

/**
 * Starts a built app, on a free port unless `env` sets `HTTP_PORT`, and waits until it is ready.
 *
 * @param env the settings of the app, at least DATABASE_URL and REDIS_URL
 * @throws with the app's output when it does not become ready
 */
export async function startApp(
  name: AppName,
  env: Record<string, string | undefined>,
): Promise<AppUnderTest> {
  const { isHealthy } = await stackModule('processes');
  const [free, metricsPort] = await Promise.all([freePort(), freePort()]);
  const port = Number(env['HTTP_PORT'] ?? free);
  const url = `http://127.0.0.1:${port}`;
  const program = await ProgramUnderTest.start(`apps/${name}/dist/main.js`, {
    env: { HTTP_PORT: String(port), METRICS_PORT: String(metricsPort), ...env },
  });
  try {
    await program.waitUntil(() => isHealthy(`${url}/health/ready`), 'become ready');
  } catch (error) {
    program.kill('SIGKILL');
    throw error;
  }
  return { program, url, port, metricsUrl: `http://127.0.0.1:${metricsPort}/metrics` };
}
