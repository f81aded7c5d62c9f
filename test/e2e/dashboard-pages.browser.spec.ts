import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { WebhookId } from '@posthorn/kernel';
import { type AppUnderTest, Browser, type BrowserPage, findChromium, type PageSize } from '@posthorn/testing';
import { emailIn } from './api.ts';
import { type DashboardVisitor, openDashboard } from './dashboard-visitor.ts';
import { addDelivery } from './deliveries.ts';
import { picture, TELEPHONE, WIDER_THAN_THE_SCREEN } from './pictures.ts';
import { Stack, until } from './stack.ts';
import { DAY_MS, fromNow } from './times.ts';

const chromium = findChromium();
const DESKTOP: PageSize = { width: 1280, height: 1000 };
/** The contrast between the edge of a field and the page (WCAG 2.2, 1.4.11). */
const EDGE_CONTRAST = `(() => {
  const brightness = (color) => {
    const canvas = document.createElement('canvas').getContext('2d');
    canvas.fillStyle = color;
    canvas.fillRect(0, 0, 1, 1);
    const [r, g, b] = [...canvas.getImageData(0, 0, 1, 1).data].map((part) =>
      part / 255 <= 0.04045 ? part / 255 / 12.92 : ((part / 255 + 0.055) / 1.055) ** 2.4);
    return 0.2126 * r + 0.7152 * g + 0.0722 * b + 0.05;
  };
  const [edge, page] = [
    brightness(getComputedStyle(document.getElementById('to')).borderTopColor),
    brightness(getComputedStyle(document.body).backgroundColor),
  ];
  return Math.max(edge, page) / Math.min(edge, page);
})()`;
/** Pages on which there is no time. */
const TIMELESS = new Set(['/workspaces/:workspace/senders', '/workspaces/:workspace/days', '/emails/counts']);
const LONG_NAME = 'A long name '.repeat(8).trim();

/** Content of a mail that would run scripts, load or send something if it were allowed. @param tracker the origin that it comes from */
const hostileMail = (
  tracker: string,
): string => `<h1 style="color:#0b57d0">Your receipt</h1><p>Thank you, Ada.</p>
<script>document.title = 'ran'; fetch('${tracker}/script')</script>
<img src="${tracker}/pixel.png" onerror="parent.document.title = 'ran'">
<link rel="stylesheet" href="${tracker}/a.css"><link rel="preconnect" href="${tracker}">
<style>@import '${tracker}/b.css'; body { background: url(${tracker}/bg.png) }</style>
<iframe src="${tracker}/frame"></iframe><object data="${tracker}/object"></object>
<video src="${tracker}/film" autoplay></video>
<meta http-equiv="refresh" content="0;url=${tracker}/refresh">
<form action="${tracker}/form"><button>Pay</button></form>
<a href="${tracker}/link">See the order</a>`;

/** A server that notices when something in {@link hostileMail} leads a browser to it; its first page shows that mail without any protection. */
class Tracker {
  connections = 0;
  readonly paths: string[] = [];
  private readonly server = createServer(({ url = '' }, response) => {
    this.paths.push(url);
    response.writeHead(200, { 'Content-Type': 'text/html' });
    response.end(url === '/' ? hostileMail(this.origin) : '');
  }).on('connection', () => (this.connections += 1));

  static async start(): Promise<Tracker> {
    const tracker = new Tracker();
    await once(tracker.server.listen(0, '127.0.0.1'), 'listening');
    return tracker;
  }

  get origin(): string {
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}`;
  }

  close(): void {
    this.server.close();
    this.server.closeAllConnections();
  }
}

if (chromium === undefined) {
  describe('the pages of the dashboard in a browser', () => {
    it.skip('are not tested: no chromium or google-chrome is in the PATH', () => undefined);
  });
} else {
  describe('the pages of the dashboard in a browser', () => {
    let browser: Browser;
    let dashboard: AppUnderTest;
    let ada: DashboardVisitor;
    let vera: DashboardVisitor;
    let email: string;
    let friendly: string;
    let webhook: WebhookId;
    let tracker: Tracker;

    const stack = Stack.forTests();
    beforeAll(async () => {
      [browser, tracker] = await Promise.all([Browser.start(chromium), Tracker.start()]);
      ({ dashboard, ada, vera } = await openDashboard(stack));
      const to = 'ada@receiver.example';
      ({ id: email } = emailIn(
        await stack.send({
          to,
          subject: 'Your receipt',
          html: hostileMail(tracker.origin),
          trackOpens: undefined,
        }),
      ));
      await stack.onlyMailTo(to);
      const html = '<h1 style="color:#0b57d0">Welcome, Grace</h1><p>Good to have you with us.</p>';
      ({ id: friendly } = emailIn(
        await stack.send({ to: 'grace@receiver.example', subject: 'Welcome', html }),
      ));
      await stack.onlyMailTo('grace@receiver.example');
      const body = { url: 'https://example.com/webhooks', events: ['CONTACT_CREATED'] };
      webhook = ((await stack.api().post('/v1/webhooks', body)).body['webhook'] as { id: WebhookId }).id;
      for (const hours of [1, 2, 30])
        await addDelivery(stack, stack.tenant.workspaceId, webhook, {
          atMs: Date.now() - hours * 3_600_000,
          status: hours === 2 ? 'SUCCEEDED' : 'EXHAUSTED',
        });
    });
    afterAll(async () => {
      await browser?.close();
      tracker?.close();
    });

    const addressOf = (path: string): string =>
      path
        .replace(':email', email)
        .replace(':webhook', webhook)
        .replace(':workspace', stack.tenant.workspaceId);

    async function open(visitor: DashboardVisitor, path: string, size = DESKTOP): Promise<BrowserPage> {
      const page = await browser.openPage(size);
      await page.setCookie(dashboard.url, visitor.cookie);
      await page.goTo(dashboard.url + path);
      await page.waitUntil(`document.readyState === 'complete' && document.querySelector('h1')`);
      return page;
    }

    const call = (name: string): Promise<unknown> =>
      stack.database.pool.query(`UPDATE workspaces SET name = $1 WHERE name = ANY($2)`, [
        name,
        ['End to end', LONG_NAME, 'W'.repeat(100)],
      ]);
    const fill = (page: BrowserPage, id: string, value: string): Promise<unknown> =>
      page.evaluate(`document.getElementById('${id}').value = ${JSON.stringify(value)}`);
    /** Waits for the whole page: its text may be shown before its forms. */
    async function press(page: BrowserPage, action: string): Promise<void> {
      await page.waitUntil(`document.readyState === 'complete'`);
      await page.evaluate(`document.querySelector('form[action$="${action}"] button').click()`);
    }
    const textOf = (page: BrowserPage): Promise<string> => page.evaluate('document.body.innerText');

    it('list emails on a phone', async () => {
      const page = await open(ada, '/emails', TELEPHONE);
      await page.evaluate(`document.querySelector('.scroll').scrollIntoView()`);
      expect(await textOf(page)).toContain('grace@receiver.example');
      await picture(page, 'emails-telephone');
    });

    it('collapse all but the first field of a search on a phone, so that the list begins on the first screen', async () => {
      const listBegins = `document.querySelector('.scroll').getBoundingClientRect().top`;
      const fieldsShown = `[...document.querySelectorAll('.search input, .search select')].filter((field) => field.checkVisibility()).length`;
      const telephone = await open(ada, '/emails', TELEPHONE);
      expect(await telephone.evaluate(listBegins)).toBeLessThan(TELEPHONE.height - 80);
      expect(await telephone.evaluate(fieldsShown)).toBe(1);
      await telephone.evaluate(`document.querySelector('.search summary').click()`);
      expect(await telephone.evaluate(fieldsShown)).toBe(7);
      const narrowed = await open(ada, '/emails?status=SENT', TELEPHONE);
      expect(await narrowed.evaluate(fieldsShown)).toBe(7);
      const desktop = await open(ada, '/emails');
      expect(await desktop.evaluate(fieldsShown)).toBe(7);
      expect(await desktop.evaluate(`document.querySelector('.search summary').checkVisibility()`)).toBe(
        false,
      );
    });

    it('find an email by the search form, and open it', async () => {
      const page = await open(vera, '/emails');
      await fill(page, 'to', 'ada@receiver.example');
      await press(page, '/emails');
      await page.waitUntil(`location.search.includes('to=') && document.readyState === 'complete'`);
      await picture(page, 'emails');
      await page.evaluate(`document.querySelector('td a').click()`);
      await page.waitUntil(`document.querySelector('h1')?.textContent === 'Your receipt'`);
      expect(await textOf(page)).toContain('250');
      expect(page.problems).toEqual([]);
    });

    it('show how an email looks, without running or loading any of its content', async () => {
      const page = await open(ada, `/emails/${email}`);
      await page.evaluate(`document.querySelector('iframe').scrollIntoView()`);
      await until(() => page.requests.some((url) => url.endsWith('/frame')), 'the frame is loaded');
      await page.waitUntil(
        `performance.getEntriesByName(document.querySelector('iframe').src)[0]?.responseEnd > 0`,
      );
      await new Promise((resolve) => setTimeout(resolve, 1_000));
      // Not by `page.requests`: a sandboxed frame is a process of its own, whose requests are not among them.
      expect(tracker.connections).toBe(0);
      expect(await page.evaluate('document.title')).toBe('Your receipt – Posthorn');
      expect(
        await page.evaluate(
          `(() => { try { return document.querySelector('iframe').contentDocument } catch { return null } })()`,
        ),
      ).toBeNull();
    });

    it('keep away an email that would be noticed to load its content anywhere else', async () => {
      const page = await browser.openPage(DESKTOP);
      await page.goTo(tracker.origin);
      await until(() => tracker.paths.includes('/pixel.png'), 'its server is asked for a picture');
    });

    it('let no link be followed out of the frame', async () => {
      const page = await open(ada, `/emails/${email}`);
      // Another page like it, so that no other navigation is pending; not when it is visible, which a page in the background may never be.
      await page.evaluate(`(() => {
        const frame = document.querySelector('iframe');
        const away = { loading: 'eager', src: 'https://tracker.example/away' };
        frame.replaceWith(Object.assign(frame.cloneNode(), away));
      })()`);
      await until(
        () => page.problems.some((complaint) => complaint.includes('frame-src')),
        'the policy keeps the frame here',
      );
      expect(page.requests.filter((url) => url.includes('tracker.example'))).toEqual([]);
    });

    it('send an email again by its form, cancel and move one', async () => {
      const page = await open(ada, `/emails/${email}`);
      await fill(page, 'reason', 'She has deleted it');
      await press(page, '/again');
      await page.waitUntil(`document.querySelector('.done')?.textContent.includes('sent again')`);
      expect(await textOf(page)).toContain('She has deleted it');
      const { id } = emailIn(await stack.send({ sendAt: fromNow(DAY_MS), subject: 'A reminder' }));
      await page.goTo(`${dashboard.url}/emails/${id}`);
      await page.waitUntil(`document.getElementById('sendAt')`);
      await picture(page, 'email-scheduled');
      await fill(page, 'sendAt', fromNow(2 * DAY_MS).slice(0, 16));
      await press(page, '/move');
      await page.waitUntil(`document.querySelector('.done')?.textContent === 'It was moved.'`);
      const isCancelShown = `document.querySelector('form[action$="/cancel"] button').checkVisibility()`;
      expect(await page.evaluate(isCancelShown)).toBe(false);
      await page.evaluate(`document.querySelector('.acts summary').click()`);
      expect(await page.evaluate(isCancelShown)).toBe(true);
      await press(page, '/cancel');
      await page.waitUntil(`document.querySelector('.done')?.textContent === 'It was cancelled.'`);
      expect((await stack.show(id)).status).toBe('CANCELLED');
      expect(page.problems).toEqual([]);
    });

    it('show why an address is suppressed, and remove it from the list', async () => {
      const to = 'blocked@receiver.example';
      await stack.api().post('/v1/suppressions', { email: to });
      const { id } = emailIn(await stack.send({ to }));
      await until(async () => (await stack.show(id)).status === 'SUPPRESSED', 'it is not sent');
      const page = await open(ada, `/emails/${id}`);
      await page.evaluate(`document.querySelector('dd a[href^="/suppressions"]').click()`);
      await page.waitUntil(`document.querySelector('h1')?.textContent === 'Suppressions'`);
      await picture(page, 'suppressions');
      await press(page, '/remove');
      await page.waitUntil(`document.querySelector('.done')?.textContent.includes('removed from the list')`);
      expect(page.problems).toEqual([]);
    });

    it('find webhooks and deliveries, and send one or all failed ones again', async () => {
      const page = await open(ada, '/webhooks');
      await picture(page, 'webhooks');
      await page.evaluate(`document.querySelector('td a').click()`);
      await page.waitUntil(`document.querySelector('h1')?.textContent === 'https://example.com/webhooks'`);
      await fill(page, 'status', 'EXHAUSTED');
      await press(page, webhook);
      await page.waitUntil(`location.search.includes('EXHAUSTED') && document.readyState === 'complete'`);
      expect(await page.evaluate(`document.querySelectorAll('td a[href*="/deliveries/"]').length`)).toBe(2);
      await page.evaluate(`document.querySelector('td a').click()`);
      await page.waitUntil(`document.querySelector('summary')`);
      await page.evaluate(`document.querySelector('details').open = true`);
      await picture(page, 'delivery');
      await press(page, '/redeliver');
      await page.waitUntil(`document.querySelector('.done')?.textContent === 'It is due now.'`);
      await page.goTo(`${dashboard.url}/webhooks/${webhook}`);
      await page.waitUntil(`document.getElementById('since')`);
      await fill(page, 'since', fromNow(-2 * DAY_MS).slice(0, 16));
      await press(page, '/recover');
      await page.waitUntil(`document.querySelector('main')?.innerText.includes('COMPLETED')`);
      await picture(page, 'webhook');
      expect(page.problems).toEqual([]);
    });

    it('show a workspace with its senders, lanes and webhooks', async () => {
      const page = await open(vera, addressOf('/workspaces/:workspace'));
      const headings = `[...document.querySelectorAll('h2')].map(({ textContent }) => textContent).join()`;
      expect(await page.evaluate(headings)).toBe('Senders,What is due in its lanes,Webhooks');
      await picture(page, 'workspace');
      expect(page.problems).toEqual([]);
    });

    it('show viewers no buttons, and can be used with only the keyboard', async () => {
      for (const path of [`/emails/${email}`, `/webhooks/${webhook}`, '/pauses', '/retries', '/audit']) {
        const page = await open(vera, path);
        expect(await page.evaluate(`document.querySelectorAll('main form[method=post]').length`)).toBe(0);
        const reachable = `[...document.querySelectorAll('a, button, input:not([type=hidden]), select, iframe')]`;
        expect(await page.evaluate(`${reachable}.filter(({ tabIndex }) => tabIndex < 0).length`)).toBe(0);
        expect(
          await page.evaluate(
            `[...document.querySelectorAll('main input:not([type=hidden]), main select')].filter(({ labels }) => labels.length !== 1).length`,
          ),
        ).toBe(0);
      }
    });

    it.each([
      '/emails',
      '/emails/:email',
      '/suppressions',
      '/webhooks',
      '/webhooks/:webhook',
      '/workspaces',
      '/workspaces/:workspace',
      '/workspaces/:workspace/senders',
      '/workspaces/:workspace/access',
      '/workspaces/:workspace/days',
      '/emails/counts',
      '/audit',
    ])('show all columns of their tables on a desktop, and each time with its zone: %s', async (path) => {
      await call(LONG_NAME);
      const long = `${'a'.repeat(64)}@${'b'.repeat(60)}.${'c'.repeat(60)}.example`;
      await stack.api().post('/v1/suppressions', { email: long });
      await stack.send({ to: long, subject: 'Long'.repeat(200) });
      const page = await open(ada, addressOf(path));
      const tables = `[...document.querySelectorAll('.scroll')]`;
      const hidden = `${tables}.filter(({ scrollWidth, clientWidth }) => scrollWidth > clientWidth).length`;
      expect(await page.evaluate(hidden)).toBe(0);
      expect(await page.evaluate(`${tables}.filter(({ ariaLabel }) => !ariaLabel).length`)).toBe(0);
      const zoneless = `[...document.querySelectorAll('time')].filter((time) => {
          const cell = time.closest('td');
          const told = cell ? cell.closest('table').querySelectorAll('th')[cell.cellIndex] : time;
          return !told.textContent.includes('UTC');
        }).length`;
      expect(await page.evaluate(zoneless)).toBe(0);
      const misnamed = `[...document.querySelectorAll('td[data-label]')].filter((cell) =>
          cell.dataset.label !== cell.closest('table').querySelectorAll('th')[cell.cellIndex].textContent
        ).length`;
      expect(await page.evaluate(misnamed)).toBe(0);
      expect(await page.evaluate(`document.querySelectorAll('time').length > 0`)).toBe(!TIMELESS.has(path));
      await call('End to end');
    });

    it.each([
      '/emails',
      '/emails/:email',
      '/emails/:email/source',
      '/suppressions',
      '/webhooks',
      '/webhooks/:webhook',
      '/pauses',
      '/retries',
      '/workspaces',
      '/workspaces/:workspace',
      '/workspaces/:workspace/senders',
      '/workspaces/:workspace/access',
      '/workspaces/:workspace/days',
      '/emails/counts',
      '/audit',
    ])('are no wider than a phone: %s', async (path) => {
      const address = addressOf(path);
      const page = await open(ada, address, TELEPHONE);
      expect(await page.evaluate(WIDER_THAN_THE_SCREEN)).toBe(false);
    });

    it('are no wider than a phone for a long word in what is wrong, or in the name of a workspace', async () => {
      const word = 'W'.repeat(100);
      await ada.post('/pauses', { whose: 'emails', reason: word });
      await call(word);
      for (const path of ['/', '/workspaces/:workspace/senders', '/workspaces/:workspace/days']) {
        const page = await open(ada, addressOf(path), TELEPHONE);
        expect(await page.evaluate(`document.querySelector('main').textContent`)).toContain(word);
        expect([path, await page.evaluate(WIDER_THAN_THE_SCREEN)]).toEqual([path, false]);
      }
      await ada.post('/pauses/resume', { whose: 'emails' });
      await call('End to end');
    });

    it.each([
      ['/emails', 0],
      ['/suppressions', 0],
      ['/audit', 0],
      ['/workspaces', 0],
      ['/webhooks', 0],
      ['/webhooks/:webhook', 0],
      ['/webhooks/:webhook', 1],
    ])(
      'show the subject of each row of a list first on a phone, and nothing outside of the screen: %s, list %i',
      async (path, place) => {
        const times = { since: fromNow(-DAY_MS), until: fromNow(-DAY_MS / 2) };
        if (place === 1) await ada.post(`/webhooks/${webhook}/recover`, times);
        const page = await open(ada, path.replace(':webhook', webhook), TELEPHONE);
        const list = `document.querySelectorAll('.scroll')[${place}]`;
        expect(await page.evaluate(`${list}.scrollWidth > ${list}.clientWidth`)).toBe(false);
        const early = `[...${list}.querySelectorAll('tbody tr')].filter((row) => {
          const bounds = (cells) => [...row.querySelectorAll(cells)].filter((cell) => cell.offsetHeight).map((cell) => cell.getBoundingClientRect());
          const end = Math.max(...bounds('.first').map(({ bottom }) => bottom));
          return bounds('td:not(.first)').some(({ top }) => top < end);
        }).length`;
        expect(await page.evaluate(early)).toBe(0);
        expect(await page.evaluate(`${list}.querySelectorAll('tbody tr .first').length`)).toBeGreaterThan(0);
      },
    );

    it('show on phone and desktop what waits, its workspace, and why it is paused, however long the reason is', async () => {
      const { pool } = stack.database;
      const { workspaceId } = stack.tenant;
      await call(LONG_NAME);
      await pool.query(
        `INSERT INTO paused_lanes (queue, lane_id, reason) VALUES ('email', $1, repeat('because ', 60))`,
        [`${workspaceId}.now`],
      );
      await stack.send();
      for (const size of [TELEPHONE, DESKTOP]) {
        for (const [path, words] of [
          ['/', 'because'],
          ['/', 'paused'],
          ['/pauses', 'because'],
        ] as const) {
          const page = await open(ada, path, size);
          expect(await page.evaluate(WIDER_THAN_THE_SCREEN)).toBe(false);
          const table = `[...document.querySelectorAll('.scroll')].find(({ textContent }) => textContent.includes('${words}'))`;
          expect(await page.evaluate(`${table}.scrollWidth > ${table}.clientWidth`)).toBe(false);
          const link = `${table}.querySelector('td a[href^="/emails?"][href$="workspace=${workspaceId}"]')`;
          expect(await page.evaluate(`${link} !== null`)).toBe(true);
        }
      }
      await pool.query('DELETE FROM paused_lanes');
      await call('End to end');
    });

    it('begin with a link that skips the header, and have distinct titles and fields with visible edges', async () => {
      const titles = new Set<string>();
      const paths = [
        '/emails',
        `/emails/${email}`,
        `/emails/${friendly}`,
        `/emails/${friendly}/source`,
        `/webhooks/${webhook}`,
      ];
      for (const path of paths) {
        const page = await open(ada, path);
        titles.add(await page.evaluate<string>('document.title'));
        expect(await page.evaluate(`document.querySelector('a').getAttribute('href')`)).toBe('#main');
        await page.evaluate(`document.querySelector('a').click()`);
        await page.waitUntil(`document.activeElement === document.querySelector('main')`);
      }
      expect([...titles]).toEqual([
        'Emails – Posthorn',
        'Your receipt – Posthorn',
        'Welcome – Posthorn',
        'Source of “Welcome” – Posthorn',
        'Webhook at example.com – Posthorn',
      ]);
      for (const isDark of [false, true]) {
        const page = await open(ada, '/emails');
        if (isDark) await page.emulateDarkMode();
        expect(await page.evaluate(EDGE_CONTRAST)).toBeGreaterThanOrEqual(3);
      }
    });

    it('find an email by the Message-ID that its page shows', async () => {
      const page = await open(ada, `/emails/${email}`);
      const shown = `[...document.querySelectorAll('dt')].find(({ textContent }) => textContent === 'Message-ID').nextElementSibling.textContent`;
      const messageId = await page.evaluate<string>(shown);
      const { headers } = await ada.get(`/emails?${new URLSearchParams({ to: messageId }).toString()}`);
      expect(headers.get('location')).toBe(`/emails/${email}`);
    });

    it('show Posthorn’s own mails completely on a phone, however long their links are', async () => {
      const to = 'invited@receiver.example';
      const key = stack.tenant.keys.editor;
      const invitation = await stack.api().post('/v1/invitations', { email: to, role: 'API_USER' }, { key });
      expect(invitation.status).toBe(200);
      await stack.linkMailedTo(to);
      const page = await open(ada, `/emails?to=${to}`);
      const address = await page.evaluate<string>(`document.querySelector('td a').href`);
      const frame = await browser.openPage({ width: TELEPHONE.width, height: TELEPHONE.height });
      await frame.setCookie(dashboard.url, ada.cookie);
      await frame.goTo(`${address}/frame`);
      await frame.waitUntil(`document.readyState === 'complete' && document.querySelector('a')`);
      expect(await frame.evaluate(`document.querySelector('a').textContent.length`)).toBeGreaterThan(60);
      expect(await frame.evaluate(`document.documentElement.scrollWidth <= innerWidth`)).toBe(true);
    });

    it('show Posthorn’s own mails, whose links lead to pages that fit on a phone, however long the names on them are', async () => {
      const to = `${'m'.repeat(64)}@receiver.example`;
      const key = stack.tenant.keys.editor;
      await call('W'.repeat(100));
      expect(
        (await stack.api().post('/v1/invitations', { email: to, role: 'API_USER' }, { key })).status,
      ).toBe(200);
      const page = await browser.openPage(TELEPHONE);
      await page.goTo(stack.gateways[0]!.url + (await stack.linkMailedTo(to)));
      await page.waitUntil(`document.readyState === 'complete' && document.querySelector('main button')`);
      expect(await page.evaluate('document.body.innerText')).toContain(to);
      expect(await page.evaluate(WIDER_THAN_THE_SCREEN)).toBe(false);
      await call('End to end');
    });

    it('are dark if that is preferred', async () => {
      const page = await open(ada, `/emails/${friendly}`);
      await picture(page, 'email');
      const background = `getComputedStyle(document.body).backgroundColor`;
      const light = await page.evaluate(background);
      await page.emulateDarkMode();
      expect(await page.evaluate(background)).not.toBe(light);
      await picture(page, 'email-dark');
    });
  });
}
