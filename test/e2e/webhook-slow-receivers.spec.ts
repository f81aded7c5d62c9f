import { expect, it } from '@jest/globals';
import { uuidOf } from '@posthorn/kernel';
import { subscribe } from './receiving.ts';
import { newRecipient, Stack, until } from './stack.ts';

/** More than a process posts concurrently. */
const EVENTS = 30;
const CONNECTIONS = 12;

let isThrottling = true;
/** Resolves when slow receivers may answer, before the deadline. */
const late = Promise.withResolvers<void>();

const stack = Stack.forTests({
  receives: ({ path }) => {
    if (path === '/throttled' && isThrottling) return { status: 429, headers: { 'retry-after': '1' } };
    return { status: 200, ...(path.startsWith('/late') && { after: late.promise }) };
  },
  env: { WEBHOOK_CONNECTIONS: String(CONNECTIONS), WEBHOOK_DEADLINE_MS: '20000' },
});

/** Concurrently, so that the first POST does not wait for the last contact. */
async function createContacts(count: number): Promise<void> {
  const contacts = Array.from({ length: count }, () => ({ email: newRecipient() }));
  expect((await stack.api().post('/v1/contacts/batch', { contacts })).status).toBe(200);
}

const succeeded = (): Promise<number> =>
  stack.count(`SELECT count(*)::int FROM webhook_deliveries WHERE status = 'SUCCEEDED'`);
const slowLanes = (): Promise<number> => stack.count('SELECT count(*)::int FROM slow_lanes');

it('W8: slow receivers are recognised during a POST, lose no attempt, and release their permits to others', async () => {
  for (const path of ['/late/1', '/late/2', '/late/3', '/well'])
    await subscribe(stack, stack.receiver.url(path));
  await createContacts(EVENTS);
  await until(async () => (await slowLanes()) === 3, 'they are known to be slow');
  expect(await stack.count('SELECT count(*)::int FROM webhooks WHERE failing_since IS NOT NULL')).toBe(0);
  await until(() => stack.receiver.postsTo('/well').length === EVENTS, 'the healthy one is told');
  // No slow receiver has answered by then.
  await until(async () => (await succeeded()) >= EVENTS, 'that is recorded');
  expect(await succeeded()).toBe(EVENTS);
  late.resolve();
  await stack.settled();
  const arrived = stack.receiver.posts.map(({ headers }) => headers['x-service-delivery-id']);
  expect(arrived).toHaveLength(4 * EVENTS);
  expect(new Set(arrived).size).toBe(4 * EVENTS);

  await until(async () => {
    // More than one if the machine was suspended: an answer is late then, too.
    await createContacts(1);
    await stack.settled();
    return (await slowLanes()) === 0;
  }, 'they are known to answer in time again');
});

it('W8: a receiver that gets too many requests rests, and then gets one at a time, so that few deliveries lose an attempt', async () => {
  const { id } = await subscribe(stack, stack.receiver.url('/throttled'));
  const posts = (): number => stack.receiver.postsTo('/throttled').length;
  const events = 200;
  await createContacts(events);
  await until(async () => (await slowLanes()) === 1, 'it is known to be throttled');
  const atFirst = posts();
  await until(() => posts() >= atFirst + 2, 'it is tried again');
  expect(posts()).toBeLessThan(events / 2);
  isThrottling = false;
  await stack.settled();
  expect(
    await stack.count(
      `SELECT count(*)::int FROM webhook_deliveries WHERE webhook_id = '${uuidOf(id)}' AND status = 'SUCCEEDED'`,
    ),
  ).toBe(events);
  expect(posts()).toBeLessThan(2 * events);
});
