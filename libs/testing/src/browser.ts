import { type ChildProcess, spawn } from 'node:child_process';
import { accessSync, constants } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { BrowserPage, type PageSize } from './browser-page.ts';
import { DevTools } from './dev-tools.ts';
import { stackPiece } from './stack.ts';

const NAMES = ['chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable'];
const STARTED_WITHIN_MS = 60_000;
/** However a test ends, and whatever becomes of it: no browser is left behind for longer. */
const LIVES_AT_MOST_SECONDS = 600;
/** It asks nobody for anything that the page has not asked for. */
const QUIET = [
  '--headless=new',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-default-apps',
  '--disable-sync',
  '--disable-gpu',
  '--disable-dev-shm-usage',
  '--remote-debugging-port=0',
  // No name but localhost and one that browsers trust less leads anywhere: what the page asks of foreign hosts is seen and fails.
  '--host-resolver-rules=MAP posthorn.test 127.0.0.1 , MAP * ~NOTFOUND , EXCLUDE 127.0.0.1 , EXCLUDE localhost',
];

/** The Chromium of this machine; undefined: it has none, and tests that need one are skipped. */
export function findChromium(): string | undefined {
  const folders = (process.env['PATH'] ?? '').split(delimiter);
  const paths = NAMES.flatMap((name) => folders.map((folder) => join(folder, name)));
  return paths.find(isExecutable);
}

/** A headless Chromium that dies with the test. */
export class Browser {
  readonly #devTools: DevTools;
  readonly #stop: () => Promise<void>;

  private constructor(devTools: DevTools, stop: () => Promise<void>) {
    this.#devTools = devTools;
    this.#stop = stop;
  }

  /** @throws with what it has written when it does not start */
  static async start(executable: string): Promise<Browser> {
    const { endWithParent, stopProcess } = await stackPiece('processes');
    const profile = await mkdtemp(join(tmpdir(), 'posthorn-browser-'));
    // The sandbox does not work for root, which containers run tests as.
    const sandbox = process.getuid?.() === 0 ? ['--no-sandbox'] : [];
    const args = [executable, ...QUIET, ...sandbox, `--user-data-dir=${profile}`, 'about:blank'];
    const child = spawn('timeout', ['--kill-after=5', String(LIVES_AT_MOST_SECONDS), ...args], {
      stdio: ['ignore', 'ignore', 'pipe'],
      detached: true,
    });
    endWithParent(child);
    const stop = async (): Promise<void> => {
      await stopProcess(child, { withinMs: 5_000 });
      await rm(profile, { recursive: true, force: true, maxRetries: 5 });
    };
    try {
      return new Browser(await DevTools.connect(await devToolsUrl(child)), stop);
    } catch (error) {
      await stop();
      throw error;
    }
  }

  /** Opens a page of that size, in pixels of CSS; it is empty at first. */
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
    const timer = setTimeout(() => fail('it took too long'), STARTED_WITHIN_MS);
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
