import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { Browser, type BrowserPage, findChromium } from '@posthorn/testing';
import { Mailbox } from '../../tools/inbox/mailbox.mjs';
import { createShow } from '../../tools/inbox/show.mjs';

const chromium = findChromium();
const COUNT = `document.getElementById('count').textContent`;

if (chromium === undefined) {
  describe('the page of the inbox in a browser', () => {
    it.skip('is not tested: no chromium or google-chrome is in the PATH', () => undefined);
  });
} else {
  describe('the page of the inbox in a browser', () => {
    let browser: Browser;
    let folder: string;
    let mailbox: Mailbox;
    let server: Server;
    let page: BrowserPage;

    beforeAll(async () => {
      browser = await Browser.start(chromium);
    });
    afterAll(() => browser?.close());
    beforeEach(async () => {
      folder = mkdtempSync(join(tmpdir(), 'inbox-'));
      mailbox = new Mailbox(folder);
      server = createShow(mailbox).listen(0, '127.0.0.1');
      await once(server, 'listening');
      page = await browser.openPage({ width: 1_000, height: 700 });
    });
    afterEach(() => {
      server.close();
      server.closeAllConnections();
      rmSync(folder, { recursive: true });
    });

    const keep = (subject: string): Promise<{ id: string }> =>
      mailbox.keep(
        { from: 'a@example.com', to: ['b@example.net'] },
        Buffer.from(`From: a@example.com\r\nSubject: ${subject}\r\n\r\nHello from ${subject}\r\n`),
      );
    async function open(): Promise<void> {
      await page.goTo(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
      await page.waitUntil(`${COUNT} !== ''`);
    }

    it('says how many mails there are, and that it shows the newest', async () => {
      await keep('mail 0');
      await open();
      expect(await page.evaluate(COUNT)).toBe('1 mail');
      for (let number = 1; number <= 203; number += 1) await keep(`mail ${number}`);
      await page.waitUntil(`${COUNT} === '204 mails, the newest 200 shown'`);
    });

    it('keeps the keyboard focus when a mail arrives', async () => {
      await keep('first');
      const { id } = await keep('second');
      await open();
      await page.evaluate(`document.querySelector('a[href="#${id}"]').focus()`);
      await keep('third');
      await page.waitUntil(`${COUNT} === '3 mails'`);
      expect(await page.evaluate('document.activeElement.hash')).toBe(`#${id}`);
    });

    it('shows the mail that was selected last, whichever answer arrives first', async () => {
      const [slow, quick] = [await keep('slow'), await keep('quick')];
      await open();
      await page.evaluate(`{
        const real = fetch;
        fetch = async (path, ...more) => {
          if (path.includes('${slow.id}')) await new Promise((go) => { goOn = go; });
          return real(path, ...more);
        };
        location.hash = '${slow.id}';
      }`);
      await page.waitUntil(`typeof goOn === 'function'`);
      await page.evaluate(`location.hash = '${quick.id}'`);
      await page.waitUntil(`document.querySelector('h2')?.textContent === 'quick'`);
      await page.evaluate(`(goOn(), new Promise((done) => setTimeout(done, 300)))`);
      expect(await page.evaluate(`document.querySelector('h2').textContent`)).toBe('quick');
    });

    it('switches between the views of a mail by the arrow keys', async () => {
      const { id } = await keep('viewed');
      await open();
      await page.evaluate(`location.hash = '${id}'`);
      await page.waitUntil(
        `document.querySelector('[role=tab][aria-selected=true]')?.textContent === 'Text'`,
      );
      const press = (key: string): Promise<unknown> =>
        page.evaluate(
          `document.activeElement.dispatchEvent(new KeyboardEvent('keydown', { key: '${key}', bubbles: true }))`,
        );
      await page.evaluate(`document.querySelector('[aria-selected=true]').focus()`);
      await press('ArrowRight');
      expect(await page.evaluate('document.activeElement.textContent')).toBe('Headers');
      for (let step = 0; step < 3; step += 1) await press('ArrowLeft');
      expect(await page.evaluate(`document.querySelector('[aria-selected=true]').textContent`)).toBe(
        'Source',
      );
      await page.waitUntil(
        `document.querySelector('[role=tabpanel]').textContent.includes('Subject: viewed')`,
      );
    });

    it('shows that the inbox does not answer, and goes on when it does', async () => {
      await keep('before');
      await open();
      const { port } = server.address() as AddressInfo;
      server.close();
      server.closeAllConnections();
      await page.waitUntil(`${COUNT}.includes('does not answer')`);
      server = createShow(mailbox).listen(port, '127.0.0.1');
      await page.waitUntil(`${COUNT} === '1 mail'`);
    });
  });
}
