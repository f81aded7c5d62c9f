import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { EVENT_NAMES } from '@posthorn/domain';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Browser, type BrowserPage, findChromium, type PageSize } from '@posthorn/testing';
import { ROUTES } from './openapi-routes.ts';
import { TELEPHONE } from './pictures.ts';
import { Stack } from './stack.ts';

const chromium = findChromium();
const DESKTOP: PageSize = { width: 1280, height: 900 };

/** Elements that overflow the window to the right, except inside of scrollable ones. */
const OVERFLOWING = `(() => {
  const width = screen.width;
  const scrolls = (element) => element !== null && (/auto|scroll|hidden/.test(getComputedStyle(element).overflowX) || scrolls(element.parentElement));
  return [...document.body.querySelectorAll('*')]
    .filter((element) => element.getBoundingClientRect().right > width + 1 && !scrolls(element.parentElement))
    .map((element) => element.tagName + '.' + element.className);
})()`;

/** The font sizes of all text on the page, in pixels. */
const LETTER_SIZES = `[...document.body.querySelectorAll('*')]
  .filter((element) => [...element.childNodes].some((node) => node.nodeType === 3 && node.data.trim() !== ''))
  .filter((element) => element.checkVisibility())
  .map((element) => parseFloat(getComputedStyle(element).fontSize))`;

/** The least contrast between the text of these elements and the background behind it (WCAG 2.2, 1.4.3). */
const leastContrast = (selector: string): string => `(() => {
  const parts = (color) => {
    const canvas = document.createElement('canvas').getContext('2d');
    canvas.fillStyle = color;
    canvas.fillRect(0, 0, 1, 1);
    return [...canvas.getImageData(0, 0, 1, 1).data];
  };
  const brightness = (color) => {
    const [r, g, b] = parts(color).map((part) =>
      part / 255 <= 0.04045 ? part / 255 / 12.92 : ((part / 255 + 0.055) / 1.055) ** 2.4);
    return 0.2126 * r + 0.7152 * g + 0.0722 * b + 0.05;
  };
  const behind = (element) => {
    const color = getComputedStyle(element).backgroundColor;
    return parts(color)[3] === 255 ? color : behind(element.parentElement);
  };
  return Math.min(...[...document.querySelectorAll('${selector}')].map((element) => {
    const both = [brightness(getComputedStyle(element).color), brightness(behind(element))];
    return Math.max(...both) / Math.min(...both);
  }));
})()`;

const SHOWN_ROUTES = `[...document.querySelectorAll('.opblock-summary')].map((summary) =>
  summary.querySelector('.opblock-summary-method').textContent + ' ' +
  summary.querySelector('.opblock-summary-path').dataset.path)`;

function installedVersion(): string {
  const file = createRequire(import.meta.url).resolve('swagger-ui-dist/package.json');
  return (JSON.parse(readFileSync(file, 'utf8')) as { version: string }).version;
}

if (chromium === undefined) {
  describe('the reference in a browser', () => {
    it.skip('is not tested: no chromium or google-chrome is in the PATH', () => undefined);
  });
} else {
  describe('the reference in a browser', () => {
    let browser: Browser;
    const stack = Stack.forTests({ sends: false });
    beforeAll(async () => {
      browser = await Browser.start(chromium);
    });
    afterAll(() => browser?.close());

    async function open(size: PageSize): Promise<BrowserPage> {
      const page = await browser.openPage(size);
      await page.goTo(`${stack.gateways[0]!.url}/docs`);
      await page.waitUntil(`document.querySelectorAll('.opblock-summary').length >= ${ROUTES.length}`);
      return page;
    }

    it('shows every route, without requests to other hosts and without errors', async () => {
      const page = await open(DESKTOP);
      const shown = await page.evaluate<string[]>(SHOWN_ROUTES);
      const routes = ROUTES.map(({ method, path }) => `${method} ${path}`);
      expect(shown.sort()).toEqual([...routes, ...EVENT_NAMES.map((name) => `POST ${name}`)].sort());
      const origins = new Set(page.requests.map((url) => new URL(url).origin));
      expect([...origins]).toEqual([stack.gateways[0]!.url]);
      expect(page.problems).toEqual([]);
      expect(await page.evaluate('document.documentElement.scrollWidth <= innerWidth')).toBe(true);
    });

    it('has one main landmark, which screen readers jump to', async () => {
      const page = await open(DESKTOP);
      expect(await page.evaluate(`document.querySelectorAll('main').length`)).toBe(1);
    });

    it('opens a route with its fields, examples and answers', async () => {
      const page = await open(DESKTOP);
      await page.evaluate(`document.querySelector('.opblock-post .opblock-summary-control').click()`);
      await page.waitUntil(`document.querySelector('.opblock-post .opblock-body .responses-wrapper')`);
      const text = await page.evaluate<string>(
        `document.querySelector('.opblock-post .opblock-body').innerText`,
      );
      expect(text).toMatch(/Request body[^]*application\/json[^]*Responses[^]*429[^]*Retry-After/);
      expect(page.problems).toEqual([]);
    });

    it.each(['light', 'dark'])(
      'has text that can be told from its background, and a name for the list of servers: %s',
      async (colours) => {
        const page = await open(DESKTOP);
        if (colours === 'dark') await page.emulateDarkMode();
        await page.evaluate(`document.querySelector('.opblock-post .opblock-summary-control').click()`);
        await page.waitUntil(`document.querySelector('.opblock-post .opblock-body .header-col')`);
        const texts = ['.opblock-summary-method', '.version', '.info a', '.authorize span', '.header-col'];
        for (const text of texts) {
          const contrast = await page.evaluate<number>(leastContrast(text));
          expect([text, contrast, contrast >= 4.5]).toEqual([text, expect.any(Number), true]);
        }
        expect(await page.evaluate(`document.getElementById('servers').ariaLabel`)).toBe('Server');
      },
    );

    it.each(['/docs/errors', '/unsubscribe/phu_unknown'])(
      'is dark with all pages of text where that is preferred: %s',
      async (path) => {
        const page = await browser.openPage(DESKTOP);
        await page.goTo(stack.gateways[0]!.url + path);
        await page.waitUntil(`document.readyState === 'complete' && document.querySelector('h1')`);
        const text = `getComputedStyle(document.body).color`;
        expect(await page.evaluate(text)).toBe('rgb(0, 0, 0)');
        await page.emulateDarkMode();
        expect(await page.evaluate(text)).toBe('rgb(255, 255, 255)');
      },
    );

    it('uses the installed version of Swagger UI', async () => {
      const page = await open(DESKTOP);
      expect(await page.evaluate('versions.swaggerUI.version')).toBe(installedVersion());
    });

    it('can be read on a phone: nothing overflows and no text is tiny, also with an open route', async () => {
      const page = await open(TELEPHONE);
      expect(await page.evaluate(OVERFLOWING)).toEqual([]);
      await page.evaluate(`document.querySelector('.opblock-post .opblock-summary-control').click()`);
      await page.waitUntil(`document.querySelector('.opblock-post .opblock-body .responses-wrapper')`);
      expect(await page.evaluate(OVERFLOWING)).toEqual([]);
      expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(TELEPHONE.width);
      expect(Math.min(...(await page.evaluate<number[]>(LETTER_SIZES)))).toBeGreaterThanOrEqual(10);
    });
  });
}
