import { setTimeout as sleep } from 'node:timers/promises';
import type { DevTools, DevToolsEvent } from './dev-tools.ts';

const ASKED_EVERY_MS = 50;
/** A page comes within it, however busy the machine is. */
const COMES_WITHIN_MS = 180_000;

/** The window of a page, in pixels of CSS. */
export interface PageSize {
  readonly width: number;
  readonly height: number;
  /** Whether it is a telephone, which heeds `<meta name="viewport">`. */
  readonly mobile?: boolean;
}

/** A page of a browser, and what it has asked for and complained about. */
export class BrowserPage {
  /** The addresses of everything that it has asked for, in order; not those of `data:`. */
  readonly requests: string[] = [];
  /** Errors of scripts, warnings of the browser (a policy that was violated, a file that was missing). */
  readonly complaints: string[] = [];
  readonly #devTools: DevTools;
  readonly #sessionId: string;

  private constructor(devTools: DevTools, sessionId: string) {
    this.#devTools = devTools;
    this.#sessionId = sessionId;
    devTools.listen((event) => {
      if (event.sessionId === sessionId) this.#hear(event);
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

  /** Gives it a cookie, as `name=value`, for an address. */
  async setCookie(url: string, cookie: string): Promise<void> {
    const [name, value] = cookie.split('=', 2);
    await this.#send('Network.setCookie', { url, name, value, httpOnly: true, sameSite: 'Strict' });
  }

  /** Shows it as to somebody who likes it dark. */
  async preferDark(): Promise<void> {
    const features = [{ name: 'prefers-color-scheme', value: 'dark' }];
    await this.#send('Emulation.setEmulatedMedia', { features });
  }

  /** Begins to load an address. @throws when there is no answer */
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

  /** Waits until an expression is true in the page. @throws with what the page has complained about */
  async until(expression: string): Promise<void> {
    for (const deadline = performance.now() + COMES_WITHIN_MS; ; await sleep(ASKED_EVERY_MS)) {
      // While the page gives way to another one, nothing can be asked of it.
      const isTrue = await this.evaluate<boolean>(`Boolean(${expression})`).catch((error: unknown) =>
        String(error),
      );
      if (isTrue === true) return;
      if (performance.now() > deadline)
        throw new Error(
          `It did not become true, but ${isTrue}: ${expression}\n${this.complaints.join('\n')}`,
        );
    }
  }

  /** What it looks like, as a PNG. */
  async screenshot(): Promise<Buffer> {
    const { data } = await this.#send('Page.captureScreenshot', { format: 'png' });
    return Buffer.from(data as string, 'base64');
  }

  #send(method: string, params: object = {}): Promise<Record<string, unknown>> {
    return this.#devTools.send(method, params, this.#sessionId);
  }

  #hear({ method, params }: DevToolsEvent): void {
    if (method === 'Network.requestWillBeSent') {
      const { url } = params['request'] as { url: string };
      if (!url.startsWith('data:')) this.requests.push(url);
    }
    if (method === 'Runtime.exceptionThrown') this.complaints.push(textOf(params['exceptionDetails']));
    if (method === 'Runtime.consoleAPICalled' && params['type'] === 'error')
      this.complaints.push(JSON.stringify(params['args']));
    if (method === 'Log.entryAdded') {
      const { level, text, url } = params['entry'] as { level: string; text: string; url?: string };
      if (level === 'error' || level === 'warning') this.complaints.push(`${text} (${url ?? 'no address'})`);
    }
  }
}

function textOf(exception: unknown): string {
  const { text, exception: thrown } = exception as { text: string; exception?: { description?: string } };
  return thrown?.description ?? text;
}
