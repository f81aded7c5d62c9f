import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from '@jest/globals';
import { UpkeepStore } from '@posthorn/database';
import { emailIn } from './api.ts';
import { ALLOW_LOOPBACK_WEBHOOKS, newRecipient, Stack, until } from './stack.ts';

/** Longer than outcomes that the database rejects are kept. */
const REJECTED_FOR_MS = 5_000;

const stack = Stack.forTests({ sends: false, env: ALLOW_LOOPBACK_WEBHOOKS });

/** Drops the partitions of some tables, as if the database's clock had been set to a time without partitions. */
async function dropMonthsOf(pattern: string): Promise<void> {
  const { rows } = await stack.database.pool.query<{ name: string }>(
    `SELECT inhrelid::regclass::text AS name FROM pg_inherits
     JOIN pg_partitioned_table ON partrelid = inhparent WHERE inhrelid::regclass::text ~ $1`,
    [`^${pattern}_[0-9]{4}_[0-9]{2}$`],
  );
  await stack.database.pool.query(`DROP TABLE ${rows.map(({ name }) => name).join(', ')}`);
}

describe('An email that is sent while the month of its events is missing', () => {
  it('is recorded as sent once the month is there, and not sent again', async () => {
    await stack.api().post('/v1/webhooks', { url: 'http://127.0.0.1:1/', events: ['EMAIL_SENT'] });
    await dropMonthsOf('events');
    await stack.startApp('sender');
    const to = newRecipient();
    const { id } = emailIn(await stack.send({ to }));
    await until(() => stack.mailsTo(to).length > 0, 'it arrives');
    await sleep(REJECTED_FOR_MS);
    await new UpkeepStore(stack.database).makePartitions(3);
    await until(async () => (await stack.outboxRow(id)) === undefined, 'it is recorded');
    expect((await stack.show(id)).timeline.map(({ event }) => event)).toEqual(['ACCEPTED', 'SENT']);
    expect(stack.mailsTo(to)).toHaveLength(1);
  });
});

describe('The scheduler', () => {
  it('creates missing months whenever the clock of the database was set, not only once a day', async () => {
    await dropMonthsOf('.*');
    const refused = await stack.send();
    expect([refused.status, refused.headers.has('retry-after')]).toEqual([503, true]);
    await stack.startApp('scheduler');
    await until(async () => (await stack.send()).status === 200, 'it has made them when it started');
    await dropMonthsOf('.*');
    // It may have made them again already.
    await until(async () => (await stack.send()).status === 200, 'it has made them again');
  });
});
