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
  readonly #child: ChildProcess;
  readonly #profile: string;
  readonly #devTools: DevTools;
  readonly #cancelWatchdog: () => void;

  private constructor(child: ChildProcess, profile: string, devTools: DevTools, cancelWatchdog: () => void) {
    this.#child = child;
    this.#profile = profile;
    this.#devTools = devTools;
    this.#cancelWatchdog = cancelWatchdog;
  }

  /** @throws with what it has written when it does not start */
  static async start(executable: string): Promise<Browser> {
    const { endWithParent } = await stackPiece('processes');
    const profile = await mkdtemp(join(tmpdir(), 'posthorn-browser-'));
    // The sandbox does not work for root, which containers run tests as.
    const sandbox = process.getuid?.() === 0 ? ['--no-sandbox'] : [];
    const args = [executable, ...QUIET, ...sandbox, `--user-data-dir=${profile}`, 'about:blank'];
    const child = spawn('timeout', ['--kill-after=5', String(LIVES_AT_MOST_SECONDS), ...args], {
      stdio: ['ignore', 'ignore', 'pipe'],
      detached: true,
    });
    const cancelWatchdog = endWithParent(child.pid ?? -1);
    const devTools = await DevTools.connect(await devToolsUrl(child));
    return new Browser(child, profile, devTools, cancelWatchdog);
  }

  /** Opens a page of that size, in pixels of CSS; it is empty at first. */
  openPage(size: PageSize): Promise<BrowserPage> {
    return BrowserPage.open(this.#devTools, size);
  }

  async close(): Promise<void> {
    const { stopProcess } = await stackPiece('processes');
    this.#cancelWatchdog();
    this.#devTools.close();
    await stopProcess(this.#child, { withinMs: 5_000 });
    await rm(this.#profile, { recursive: true, force: true, maxRetries: 5 });
  }
}

function devToolsUrl(child: ChildProcess): Promise<string> {
  return new Promise((resolve, reject) => {
    let output = '';
    const fail = (why: string): void => reject(new Error(`Chromium did not start: ${why}\n${output}`));
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
