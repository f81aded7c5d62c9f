import { type ChildProcess, spawn } from 'node:child_process';
import { accessSync, constants } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { BrowserPage, type PageSize } from './browser-page.ts';
import { DevTools } from './dev-tools.ts';
import { stackModule } from './stack.ts';

const EXECUTABLE_NAMES = ['chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable'];
const START_TIMEOUT_MS = 180_000;
/** Longer than `timeout` waits for the browser after it has passed on a SIGTERM: if it were killed first, the browser would stay. */
const STOP_TIMEOUT_MS = 60_000;
/** The browser is killed after this time, even if the test process did not clean up. Far longer than any test file takes. */
const MAX_LIFETIME_SECONDS = 3_600;
/** With these flags the browser sends no requests of its own. */
const FLAGS = [
  '--headless=new',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-default-apps',
  '--disable-sync',
  '--disable-gpu',
  '--disable-dev-shm-usage',
  '--remote-debugging-port=0',
  // Only localhost and posthorn.test (not a secure context for browsers) resolve: requests to other hosts are recorded and fail.
  '--host-resolver-rules=MAP posthorn.test 127.0.0.1 , MAP * ~NOTFOUND , EXCLUDE 127.0.0.1 , EXCLUDE localhost',
];

/** The path of this machine's Chromium; undefined if it has none: tests that need one are then skipped. */
export function findChromium(): string | undefined {
  const folders = (process.env['PATH'] ?? '').split(delimiter);
  const paths = EXECUTABLE_NAMES.flatMap((name) => folders.map((folder) => join(folder, name)));
  return paths.find(isExecutable);
}

/** A headless Chromium that ends with the test. */
export class Browser {
  readonly #devTools: DevTools;
  readonly #stop: () => Promise<void>;

  private constructor(devTools: DevTools, stop: () => Promise<void>) {
    this.#devTools = devTools;
    this.#stop = stop;
  }

  /** @throws with its output when it does not start */
  static async start(executable: string): Promise<Browser> {
    const { endWithParent, stopProcess } = await stackModule('processes');
    const profile = await mkdtemp(join(tmpdir(), 'posthorn-browser-'));
    // The sandbox does not work for root, which containers run tests as.
    const sandbox = process.getuid?.() === 0 ? ['--no-sandbox'] : [];
    const args = [executable, ...FLAGS, ...sandbox, `--user-data-dir=${profile}`, 'about:blank'];
    const child = spawn('timeout', ['--kill-after=5', String(MAX_LIFETIME_SECONDS), ...args], {
      stdio: ['ignore', 'ignore', 'pipe'],
      detached: true,
    });
    endWithParent(child);
    const stop = async (): Promise<void> => {
      await stopProcess(child, { withinMs: STOP_TIMEOUT_MS });
      // Its helpers may still be writing.
      await rm(profile, { recursive: true, force: true, maxRetries: 20 });
    };
    try {
      return new Browser(await DevTools.connect(await devToolsUrl(child)), stop);
    } catch (error) {
      await stop();
      throw error;
    }
  }

  /** Opens an empty page of that size. */
  openPage(size: PageSize): Promise<BrowserPage> {
    return BrowserPage.open(this.#devTools, size);
  }

  async close(): Promise<void> {
    this.#devTools.close();
    await this.#stop();
  }
}

function devToolsUrl(child: ChildProcess): Promise<string> {
  return new Promise((resolve, reject) => {
    let output = '';
    const fail = (why: string): void => {
      clearTimeout(timer);
      reject(new Error(`Chromium did not start: ${why}\n${output}`));
    };
    const timer = setTimeout(() => fail('it took too long'), START_TIMEOUT_MS);
    child.once('error', (error) => fail(error.message)).once('exit', () => fail('it ended'));
    child.stderr?.on('data', (chunk: Buffer) => {
      output += chunk.toString();
      const url = /DevTools listening on (ws:\S+)\s/.exec(output)?.[1];
      if (url === undefined) return;
      clearTimeout(timer);
      resolve(url);
    });
  });
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
