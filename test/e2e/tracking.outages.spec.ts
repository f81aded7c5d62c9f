import { afterAll, expect, it } from '@jest/globals';
import { FaultProxy, PrivatePostgres } from '@posthorn/testing';
import { emailIn, type ShownEmail } from './api.ts';
import { trackingToken } from './factories.ts';
import { Stack, until } from './stack.ts';

/** What waits for the database does not come at all before it gives up. */
const QUICK_MS = 1_000;
const CHROME =
  'Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/142.0.0.0 Safari/537.36';

interface Counted extends ShownEmail {
  readonly engagement: { readonly opens: number; readonly clicks: number };
}

let postgres: PrivatePostgres;
let proxy: FaultProxy;
const stack = Stack.forTests(async () => {
  postgres = await PrivatePostgres.start();
  proxy = await FaultProxy.before(postgres.url);
  return {
    sends: false,
    databaseUrl: postgres.url,
    gatewayDatabaseUrl: proxy.urlFor(postgres.url),
    // Not even a gateway that takes no requests for their number lets a reader wait.
    env: { MAX_REQUESTS_IN_FLIGHT: '1' },
  };
});
afterAll(async () => {
  await proxy.close();
  await postgres.close();
});

it('S17: while the database hangs and the gateway is at its limit, links redirect at once; clicks are counted later', async () => {
  const api = stack.api();
  const click = `/t/c/${await trackingToken({ api }, 'c')}`;
  const open = `/t/o/${await trackingToken({ api }, 'o')}`;
  const { body } = await api.get('/v1/emails');
  const ids = (body['emails'] as { items: { id: string }[] }).items.map(({ id }) => id);
  await stack.database.pool.query(
    `UPDATE emails SET status = 'SENT', accepted_at = now() - interval '1 hour', send_at = now() - interval '1 hour', sent_at = now() - interval '1 hour'`,
  );
  proxy.freeze();
  const hanging = api.get('/v1/emails');
  await until(async () => (await api.get('/v1/emails')).status === 503, 'the gateway is full');
  const visitor = { key: null, headers: { 'User-Agent': CHROME } };
  const durations: number[] = [];
  for (let times = 0; times < 5; times += 1) {
    const [followed, loaded] = await Promise.all([api.get(click, visitor), api.get(open, visitor)]);
    expect([followed.status, followed.headers.get('location')]).toEqual([302, 'https://example.com/']);
    expect([loaded.status, loaded.headers.get('content-type')]).toEqual([200, 'image/gif']);
    durations.push(Math.max(followed.durationMs, loaded.durationMs));
  }
  // One or two of them on a busy machine may take longer, but not each.
  expect(Math.min(...durations)).toBeLessThan(QUICK_MS);
  await proxy.heal();
  await hanging;
  await until(async () => {
    // A COMMIT whose answer was lost counts twice.
    let [opens, clicks] = [0, 0];
    for (const id of ids) {
      const answer = await api.get(`/v1/emails/${id}`);
      if (answer.status !== 200) return false;
      const { engagement } = emailIn<Counted>(answer);
      opens += engagement.opens;
      clicks += engagement.clicks;
    }
    return opens >= 5 && clicks >= 5;
  }, 'all are counted');
});
