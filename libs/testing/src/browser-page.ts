import { setTimeout as sleep } from 'node:timers/promises';
import type { DevTools, DevToolsEvent } from './dev-tools.ts';

const POLL_INTERVAL_MS = 50;
/** Long enough for a page to load on a busy machine. */
const WAIT_TIMEOUT_MS = 180_000;

/** The size of a page's window, in CSS pixels. */
export interface PageSize {
  readonly width: number;
  readonly height: number;
  /** Whether a mobile device is emulated, which honours `<meta name="viewport">`. Default: no. */
  readonly mobile?: boolean;
}

/** A page of a browser, with the requests that it has sent and the problems that it has reported. */
export class BrowserPage {
  /** The URLs of all requests that it has sent, in order, without `data:` URLs. */
  readonly requests: string[] = [];
  /** Script errors, `console.error`, and warnings of the browser (a violated policy, a missing file). */
  readonly problems: string[] = [];
  readonly #devTools: DevTools;
  readonly #sessionId: string;

  private constructor(devTools: DevTools, sessionId: string) {
    this.#devTools = devTools;
    this.#sessionId = sessionId;
    devTools.listen((event) => {
      if (event.sessionId === sessionId) this.#record(event);
    });
  }

  /** Opens an empty page. */
  static async open(devTools: DevTools, { width, height, mobile = false }: PageSize): Promise<BrowserPage> {
    const { targetId } = await devTools.send('Target.createTarget', { url: 'about:blank' });
    const attached = await devTools.send('Target.attachToTarget', { targetId, flatten: true });
    const page = new BrowserPage(devTools, attached['sessionId'] as string);
    for (const part of ['Page', 'Network', 'Runtime', 'Log']) await page.#send(`${part}.enable`);
    const screen = { screenWidth: width, screenHeight: height };
    const size = { width, height, mobile, deviceScaleFactor: 1, ...screen };
    await page.#send('Emulation.setDeviceMetricsOverride', size);
    return page;
  }

  /** Sets a cookie, given as `name=value`, for a URL. */
  async setCookie(url: string, cookie: string): Promise<void> {
    const [name, value] = cookie.split('=', 2);
    await this.#send('Network.setCookie', { url, name, value, httpOnly: true, sameSite: 'Strict' });
  }

  /** Emulates a preference for a dark colour scheme. */
  async emulateDarkMode(): Promise<void> {
    const features = [{ name: 'prefers-color-scheme', value: 'dark' }];
    await this.#send('Emulation.setEmulatedMedia', { features });
  }

  /** Begins to load a URL. @throws when there is no answer */
  async goTo(url: string): Promise<void> {
    const { errorText } = await this.#send('Page.navigate', { url });
    if (typeof errorText === 'string') throw new Error(`${url}: ${errorText}`);
  }

  /** The value of an expression in the page; it must be JSON. @throws what the expression throws */
  async evaluate<Value>(expression: string): Promise<Value> {
    const answer = await this.#send('Runtime.evaluate', {
      expression,
      returnByValue: true,
      awaitPromise: true,
    });
    const fault = answer['exceptionDetails'] as { text: string } | undefined;
    if (fault !== undefined) throw new Error(`${expression}: ${textOf(fault)}`);
    return (answer['result'] as { value: Value }).value;
  }

  /** Waits until an expression is true in the page. @throws after a timeout, with the problems of the page */
  async waitUntil(expression: string): Promise<void> {
    for (const deadline = performance.now() + WAIT_TIMEOUT_MS; ; await sleep(POLL_INTERVAL_MS)) {
      // Evaluating fails while the page navigates to another one.
      const isTrue = await this.evaluate<boolean>(`Boolean(${expression})`).catch((error: unknown) =>
        String(error),
      );
      if (isTrue === true) return;
      if (performance.now() > deadline)
        throw new Error(`It did not become true, but ${isTrue}: ${expression}\n${this.problems.join('\n')}`);
    }
  }

  /** A screenshot, as a PNG. */
  async screenshot(): Promise<Buffer> {
    const { data } = await this.#send('Page.captureScreenshot', { format: 'png' });
    return Buffer.from(data as string, 'base64');
  }

  #send(method: string, params: object = {}): Promise<Record<string, unknown>> {
    return this.#devTools.send(method, params, this.#sessionId);
  }

  #record({ method, params }: DevToolsEvent): void {
    if (method === 'Network.requestWillBeSent') {
      const { url } = params['request'] as { url: string };
      if (!url.startsWith('data:')) this.requests.push(url);
    }
    if (method === 'Runtime.exceptionThrown') this.problems.push(textOf(params['exceptionDetails']));
    if (method === 'Runtime.consoleAPICalled' && params['type'] === 'error')
      this.problems.push(JSON.stringify(params['args']));
    if (method === 'Log.entryAdded') {
      const { level, text, url } = params['entry'] as { level: string; text: string; url?: string };
      if (level === 'error' || level === 'warning') this.problems.push(`${text} (${url ?? 'no address'})`);
    }
  }
}

function textOf(exception: unknown): string {
  const { text, exception: thrown } = exception as { text: string; exception?: { description?: string } };
  return thrown?.description ?? text;
}
