import { OperatorAccountStore } from '@posthorn/database';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import {
  type AppUnderTest,
  Browser,
  type BrowserPage,
  findChromium,
  freePort,
  type PageSize,
} from '@posthorn/testing';
import { createOperator } from '@posthorn/use-cases/operate';
import { TestIdentityProvider } from './identity-provider.ts';
import { picture, TELEPHONE, WIDER_THAN_THE_SCREEN } from './pictures.ts';
import { Stack, TESTS } from './stack.ts';

const chromium = findChromium();
const DESKTOP: PageSize = { width: 1280, height: 900 };

/** Counts as the workers of a busy installation record them in an hour. */
const AN_HOUR = `
WITH relay AS (INSERT INTO relay_views VALUES ('relay.example:587', 'sender-1:1', true, now() + interval '1 hour'))
INSERT INTO rate_minutes
SELECT date_trunc('minute', now()) - n * interval '1 minute', k.what, k.label, (k.most * (2 + sin(n / 7.0) + (n * 37 % 11) / 11.0))::int
FROM   generate_series(0, 59) n
CROSS JOIN (VALUES ('email', 'sent', 90), ('email', 'bounced', 3), ('email', 'failed', 1), ('reply', 'sent', 90),
                   ('reply', 'unknown_user', 3), ('report', 'failed', 2), ('report', 'complaint', 1),
                   ('webhook', 'succeeded', 40), ('webhook', 'timeout', 4)) k (what, label, most)`;

/** The emails that belong to these counts: copies of the one that was sent. At the beginning of a month there are only those since then. */
const EMAILS_OF_AN_HOUR = `
INSERT INTO emails
SELECT copy.*
FROM   (SELECT * FROM emails LIMIT 1) e
CROSS JOIN generate_series(1, 59) n
CROSS JOIN LATERAL (SELECT greatest(date_trunc('minute', now()) - n * interval '1 minute', date_trunc('month', now())) AS at) t
CROSS JOIN generate_series(1, (95 * (2 + sin(n / 7.0) + (n * 37 % 11) / 11.0))::int) i
CROSS JOIN LATERAL jsonb_populate_record(NULL::emails, to_jsonb(e) || jsonb_build_object(
  'id', overlay(gen_random_uuid()::text PLACING left(uuid_v7_floor(t.at)::text, 15) FROM 1),
  'accepted_at', t.at,
  'message_id', i || '.' || n || '@example.com',
  'status', CASE WHEN random() < 0.04 THEN 'BOUNCED' ELSE 'SENT' END
)) copy`;

if (chromium === undefined) {
  describe('the dashboard in a browser', () => {
    it.skip('is not tested: no chromium or google-chrome is in the PATH', () => undefined);
  });
} else {
  describe('the dashboard in a browser', () => {
    let browser: Browser;
    let dashboard: AppUnderTest;
    let url: string;
    let password: string;
    const stack = Stack.forTests({ sends: false });
    beforeAll(async () => {
      browser = await Browser.start(chromium);
      ({ password } = await createOperator(new OperatorAccountStore(stack.database), TESTS, {
        name: 'ada',
        role: 'operator',
      }));
      dashboard = await stack.startApp('dashboard');
      url = dashboard.url;
      await stack.send();
      await stack.database.pool.query(AN_HOUR);
      await stack.database.pool.query(EMAILS_OF_AN_HOUR);
    });
    afterAll(() => browser?.close());

    const isOverview = `document.querySelector('h1')?.textContent === 'Overview'`;

    async function signIn(page: BrowserPage): Promise<void> {
      await page.waitUntil(`document.activeElement?.id === 'name'`);
      const type = (id: string, text: string): Promise<unknown> =>
        page.evaluate(`document.getElementById('${id}').value = ${JSON.stringify(text)}`);
      await type('name', 'ada');
      await type('password', password);
      await page.evaluate(`document.querySelector('form').requestSubmit()`);
      await page.waitUntil(isOverview);
    }

    async function open(path: string, size: PageSize): Promise<BrowserPage> {
      const page = await browser.openPage(size);
      await page.goTo(url + path);
      return page;
    }

    it('signs in by its form', async () => {
      const page = await open('/', DESKTOP);
      await page.waitUntil(`document.activeElement?.id === 'name'`);
      await picture(page, 'sign-in');
      await signIn(page);
    });

    it('signs in and out over plain HTTP at a host name, where browsers send fewer headers', async () => {
      const port = String(await freePort());
      const at = `http://posthorn.test:${port}`;
      const app = await stack.startApp('dashboard', { HTTP_PORT: port, DASHBOARD_URL: at });
      const page = await browser.openPage(DESKTOP);
      await page.goTo(at);
      await signIn(page);
      await page.evaluate(`document.querySelector('header button').click()`);
      await page.waitUntil(`document.activeElement?.id === 'name'`);
      await app.program.stop();
    });

    it('signs in by an identity provider of another site, and its SameSite=Strict cookie is sent at once', async () => {
      const people = { grace: { groups: ['staff'] } };
      const provider = await TestIdentityProvider.start(people, 'http://localhost/');
      const app = await stack.startApp('dashboard', {
        OIDC_ISSUER: provider.issuer,
        OIDC_CLIENT_ID: provider.client.id,
        OIDC_CLIENT_SECRET: provider.client.secret,
        OIDC_SCOPES: 'openid profile groups',
        OIDC_VIEWER_VALUES: 'staff',
      });
      provider.moveTo(`http://localhost:${app.port}/sign-in/provider/callback`, people);
      const page = await browser.openPage(DESKTOP);
      await page.goTo(`http://localhost:${app.port}/`);
      await page.waitUntil(`document.querySelector('a[href="/sign-in/provider"]') !== null`);
      await page.evaluate(`document.querySelector('a[href="/sign-in/provider"]').click()`);
      await page.waitUntil(`document.querySelector('input[name=login]') !== null`);
      await page.evaluate(
        `for (const [name, value] of [['login', 'grace'], ['password', 'x']]) document.querySelector('input[name=' + name + ']').value = value;
         document.querySelector('form').requestSubmit()`,
      );
      await page.waitUntil(`document.querySelector('input[name=prompt][value=consent]') !== null`);
      await page.evaluate(`document.querySelector('form').requestSubmit()`);
      await page.waitUntil(isOverview);
      expect(await page.evaluate(`document.querySelector('header').textContent`)).toContain(
        'grace@127.0.0.1 (viewer)',
      );
      await app.program.stop();
      await provider.close();
    });

    it('shows the page that a link on another site leads to, or its form to whoever is not signed in', async () => {
      const elsewhere = `http://localhost:${dashboard.port}`;
      const page = await browser.openPage(DESKTOP);
      const follow = (href: string): Promise<unknown> =>
        page.evaluate(
          `document.body.append(Object.assign(document.createElement('a'), { href: ${JSON.stringify(href)} }));
           document.querySelector('body > a:last-child').click()`,
        );
      await page.goTo(`${elsewhere}/sign-in`);
      await page.waitUntil(`document.activeElement?.id === 'name'`);
      await follow(`${url}/emails?status=SENT`);
      await page.waitUntil(`document.querySelector('h1')?.textContent === 'Emails'`);
      expect(await page.evaluate('location.href')).toBe(`${url}/emails?status=SENT`);
      await follow(`${elsewhere}/emails`);
      await page.waitUntil(`document.activeElement?.id === 'name'`);
      expect(await page.evaluate('location.href')).toBe(`${elsewhere}/sign-in?to=%2Femails`);
    });

    it.each([
      ['a desk', DESKTOP],
      ['a telephone', TELEPHONE],
    ])('shows the state of the installation, on %s', async (_what, size) => {
      const page = await open('/', size);
      await page.waitUntil(isOverview);
      expect(await page.evaluate(`document.querySelectorAll('svg').length`)).toBe(4);
      expect(await page.evaluate(`document.querySelectorAll('svg rect.a').length`)).toBeGreaterThan(100);
      expect(await page.evaluate(WIDER_THAN_THE_SCREEN)).toBe(false);
      expect(page.problems).toEqual([]);
      await picture(page, size.mobile ? 'overview-telephone' : 'overview');
    });

    it('shows the queues without requests to other hosts', async () => {
      const page = await open('/queues', DESKTOP);
      await page.waitUntil(`document.body?.innerText.includes('email-turns')`);
      await page.waitUntil(`!document.body.innerText.includes('Loading')`);
      await picture(page, 'queues');
      expect(page.requests.filter((asked) => !asked.startsWith(url))).toEqual([]);
      expect(page.problems).toEqual([]);
    });

    it.each([
      ['a desk', DESKTOP, 'light'],
      ['a telephone', TELEPHONE, 'light'],
      ['a desk where it is dark', DESKTOP, 'dark'],
    ])('has a link from the queues back to the overview, on %s', async (_what, size, colours) => {
      const page = await browser.openPage(size);
      if (colours === 'dark') await page.emulateDarkMode();
      await page.goTo(`${url}/queues`);
      await page.waitUntil(`document.body?.innerText.includes('email-turns')`);
      const [bar, logo] = ['.way-back', 'header a img'].map(
        (part) => `document.querySelector('${part}').getBoundingClientRect()`,
      );
      expect(await page.evaluate(`${bar}.bottom <= ${logo}.top`)).toBe(true);
      const besides = `document.querySelector('aside')?.getBoundingClientRect().top`;
      expect(await page.evaluate(`(${besides} ?? Infinity) >= ${logo}.bottom`)).toBe(true);
      expect(await page.evaluate(WIDER_THAN_THE_SCREEN)).toBe(false);
      await page.evaluate(`document.querySelector('.way-back a').click()`);
      await page.waitUntil(isOverview);
    });

    it('signs out by its button', async () => {
      const page = await open('/', DESKTOP);
      await page.waitUntil(isOverview);
      await page.evaluate(`document.querySelector('header button').click()`);
      await page.waitUntil(`document.activeElement?.id === 'name'`);
    });
  });
}
