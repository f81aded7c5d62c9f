import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Stack, until } from './stack.ts';

let stack: Stack;
beforeAll(async () => {
  stack = await Stack.start({ sends: false });
});
afterAll(() => stack.close());

/** Drops partitions, as if the database's clock had been set to a time without partitions. */
async function dropAllMonths(): Promise<void> {
  const { rows } = await stack.database.pool.query<{ name: string }>(
    `SELECT inhrelid::regclass::text AS name FROM pg_inherits
     JOIN pg_partitioned_table ON partrelid = inhparent WHERE inhrelid::regclass::text ~ '_[0-9]{4}_[0-9]{2}$'`,
  );
  await stack.database.pool.query(`DROP TABLE ${rows.map(({ name }) => name).join(', ')}`);
  expect((await stack.send()).status).toBe(500);
}

describe('The scheduler', () => {
  it('creates missing months whenever the clock of the database was set, not only once a day', async () => {
    await dropAllMonths();
    await stack.startApp('scheduler');
    await until(async () => (await stack.send()).status === 200, 'it has made them when it started');
    await dropAllMonths();
    await until(async () => (await stack.send()).status === 200, 'it has made them again', 60_000);
  });
});
