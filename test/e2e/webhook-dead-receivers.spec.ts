import { beforeAll, expect, it } from '@jest/globals';
import type { Api } from './api.ts';
import { newRecipient, Stack, type Tenant, until } from './stack.ts';

const WORKSPACES = 20;
const WEBHOOKS_EACH = 50;
const EVENTS = ['CONTACT_CREATED'];
const WELL = '/well';
/** Far longer than the deadline of a POST. */
const FOR_EVER_MS = 600_000;
/** How long a healthy receiver waits for an event on a busy machine: usually, and at most. */
const SOON_MS = 5_000;
const AT_MOST_MS = 60_000;

const stack = Stack.forTests({
  receives: ({ path }) => ({ status: 200, afterMs: path === WELL ? 0 : FOR_EVER_MS }),
  env: { WEBHOOK_DEADLINE_MS: '2500' },
});
let dead: Tenant[];

beforeAll(async () => {
  dead = await Promise.all(Array.from({ length: WORKSPACES }, (_, n) => stack.createTenant(`Dead ${n}`)));
  await Promise.all(dead.map(subscribeTheDead));
});

const apiOf = ({ keys }: Tenant): Api => stack.apiAs(keys.apiUser);

async function createContact(tenant: Tenant): Promise<string> {
  const email = newRecipient();
  expect((await apiOf(tenant).post('/v1/contacts', { email })).status).toBe(200);
  return email;
}

/** Half of them accept the connection and never answer, the others do not accept it. */
async function subscribeTheDead(tenant: Tenant): Promise<void> {
  for (let n = 0; n < WEBHOOKS_EACH; n += 1) {
    const url = n % 2 === 0 ? stack.receiver.url(`/dead-${n}`) : 'http://127.0.0.1:1/dead';
    expect((await apiOf(tenant).post('/v1/webhooks', { url, events: EVENTS })).status).toBe(200);
  }
}

/** How long a healthy receiver waits for a new event, in milliseconds. */
async function waitOfTheHealthy(): Promise<number> {
  const email = await createContact(stack.tenant);
  const begunAt = performance.now();
  const hasArrived = (): boolean => stack.receiver.postsTo(WELL).some(({ body }) => body.includes(email));
  await until(hasArrived, 'the healthy receiver is told');
  return performance.now() - begunAt;
}

it('W8, W9: a thousand dead receivers of twenty workspaces do not delay a healthy one', async () => {
  await stack.api().post('/v1/webhooks', { url: stack.receiver.url(WELL), events: EVENTS });
  await Promise.all(dead.map(createContact));
  const slowLanes = (): Promise<number> => stack.count('SELECT count(*)::int FROM slow_lanes');
  await until(async () => (await slowLanes()) === WORKSPACES * WEBHOOKS_EACH, 'all are known to be dead');

  const waits: number[] = [];
  for (let n = 0; n < 20; n += 1) {
    // Each round adds a thousand deliveries for the dead receivers.
    const [wait] = await Promise.all([
      waitOfTheHealthy(),
      n % 4 === 0 && Promise.all(dead.map(createContact)),
    ]);
    waits.push(wait);
  }
  expect(waits.filter((wait) => wait > AT_MOST_MS)).toEqual([]);
  expect(waits.filter((wait) => wait > SOON_MS).length).toBeLessThan(waits.length / 2);
  const held = `SELECT count(*)::int FROM outbox WHERE queue = 'webhook'`;
  expect(await stack.count(held)).toBeGreaterThan(WORKSPACES * WEBHOOKS_EACH);
}, 600_000);
