import { afterAll, expect, it } from '@jest/globals';
import { OperatorAccountStore, OperatorSessionStore } from '@posthorn/database';
import { RateLimiter } from '@posthorn/queues';
import { testRedisUrl, uniqueQueuePrefix } from '@posthorn/testing';
import { pbkdf2 } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { openTestDatabase } from '../open-test-database.fixture.ts';
import { OperatorSessions } from './operator-sessions.ts';

const database = await openTestDatabase(2);
const limiter = new RateLimiter({
  url: testRedisUrl(),
  prefix: uniqueQueuePrefix(),
  onError: () => undefined,
});
const sessions = new OperatorSessions(
  new OperatorAccountStore(database),
  new OperatorSessionStore(database),
  limiter,
  { ofAccounts: true, issuer: undefined },
);

afterAll(() => limiter.close());

it('Comparing many passwords leaves threads free for other work, such as new connections to the database', async () => {
  let compared = 0;
  const tries = Array.from({ length: 20 }, (_, index) =>
    sessions
      .signIn({ name: `no name ${index}`, password: 'x', network: '203.0.113.7' })
      .finally(() => (compared += 1)),
  );
  const outcomes = Promise.allSettled(tries);
  while (compared === 0) await sleep(5);
  const before = compared;
  await promisify(pbkdf2)('x', 'salt', 1, 32, 'sha256');
  expect(compared - before).toBeLessThan(8);
  expect(new Set((await outcomes).map(({ status }) => status))).toEqual(new Set(['rejected']));
  expect(compared).toBe(20);
});
