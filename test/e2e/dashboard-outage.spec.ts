import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type AppUnderTest, FaultProxy, testRedisUrl } from '@posthorn/testing';
import { newId } from '@posthorn/kernel';
import { Api } from './api.ts';
import { DashboardVisitor, type ShownPage } from './dashboard-visitor.ts';
import { Stack, until } from './stack.ts';

/** Ten seconds, and a margin for a machine that stands still for a while; whoever waits for an answer without a limit waits for minutes. */
const MAX_WAIT_MS = 60_000;

let proxy: FaultProxy;
let redis: FaultProxy;
let dashboard: AppUnderTest;
let ada: DashboardVisitor;

const stack = Stack.forTests({ sends: false });
beforeAll(async () => {
  proxy = await FaultProxy.before(stack.databaseUrl);
  redis = await FaultProxy.before(testRedisUrl());
  dashboard = await stack.startApp('dashboard', {
    DATABASE_URL: proxy.urlFor(stack.databaseUrl),
    REDIS_URL: redis.urlFor(testRedisUrl()),
  });
  ada = await DashboardVisitor.signIn(stack, dashboard, 'ada', 'operator');
});
afterAll(async () => {
  await proxy.close();
  await redis.close();
});

function expectPage({ status, headers, text }: ShownPage, wanted: number, sentence: string): void {
  expect([status, headers.get('content-type')]).toEqual([wanted, 'text/html; charset=utf-8']);
  expect(text).toContain(`<p role="alert">${sentence}`);
}

describe('The dashboard shows a page about', () => {
  it('something that does not exist', async () => {
    expectPage(await ada.get('/nowhere'), 404, '');
    expectPage(await ada.get(`/emails/${newId('trs', Date.now())}`), 404, 'There is no email with this id.');
  });

  it('a request that is refused before it is handled', async () => {
    const { status, headers, text } = await new Api(dashboard.url, '').raw([
      'GET / HTTP/1.1',
      'Connection: close',
    ]);
    expectPage({ status, headers, text }, 400, 'The header `Host` is missing');
  });

  it('a form that is too large', async () => {
    const page = await ada.post('/emails/x/again', { reason: 'x'.repeat(9 * 1024) });
    expectPage(page, 413, 'The form is too large; shorten what you have filled in');
  });

  it.each(['refuse', 'freeze'] as const)(
    'an unavailable database (%s), and works again when it is back',
    async (fault) => {
      await proxy[fault]();
      const begun = performance.now();
      const paths = [
        '/',
        '/?by-itself=1',
        '/pauses',
        '/retries',
        '/workspaces',
        '/audit',
        '/emails',
        '/suppressions',
        '/webhooks',
        `/emails/${newId('trs', Date.now())}`,
        '/sign-in',
      ];
      const pages = await Promise.all(paths.map((path) => ada.get(path)));
      expect(performance.now() - begun).toBeLessThan(MAX_WAIT_MS);
      for (const page of pages)
        expectPage(page, 503, 'The database cannot be queried right now; try again in a moment.');
      for (const page of pages) expect(Number(page.headers.get('retry-after'))).toBeGreaterThanOrEqual(1);
      // Pages that reload themselves go on doing so.
      expect(pages.map(({ headers }) => headers.get('refresh'))).toEqual([
        null,
        '5; url=?by-itself=1',
        null,
        null,
        null,
        null,
        null,
        null,
        null,
        null,
        null,
      ]);
      await proxy.heal();
      await until(async () => (await ada.get('/')).status === 200, 'the pages are there again');
      expect(dashboard.program.output).not.toContain('a request failed');
    },
  );

  it('a Redis that stops answering while the queues are shown', async () => {
    const path = '/queues/api/queues';
    expect((await ada.get(path)).status).toBe(200);
    redis.freeze();
    const page = await ada.get(path);
    expectPage(page, 503, 'Redis cannot be reached right now; try again in a moment.');
    expect(Number(page.headers.get('retry-after'))).toBeGreaterThanOrEqual(1);
    const asScript = await fetch(dashboard.url + path, {
      headers: { Accept: 'application/json, text/plain, */*', Cookie: ada.cookie },
    });
    expect([asScript.status, await asScript.json()]).toEqual([
      503,
      expect.objectContaining({
        error: 'Service Unavailable',
        message: 'Redis cannot be reached right now; try again in a moment',
      }),
    ]);
    const overview = await ada.get('/');
    expect(overview.status).toBe(200);
    expect(overview.text).toMatch(/<p class="bad" role="alert">\s*Redis does not answer/);
    await redis.heal();
    await until(async () => (await ada.get(path)).status === 200, 'the queues are shown again');
    expect((await ada.get('/')).text).not.toContain('Redis does not answer');
  });
});
