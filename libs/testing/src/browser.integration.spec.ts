import { expect, it } from '@jest/globals';
import { Browser, findChromium } from './browser.ts';

const chromium = findChromium();

(chromium === undefined ? it.skip : it)('a browser that has ended opens no page, and says so', async () => {
  const browser = await Browser.start(chromium!);
  await browser.close();
  const opened = browser.openPage({ width: 800, height: 600 });
  await expect(opened).rejects.toThrow('the browser has closed the connection');
});
