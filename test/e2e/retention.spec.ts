import { describe, expect, it } from '@jest/globals';
import { operator } from '@posthorn/domain';
import { WorkspaceStore } from '@posthorn/database';
import { retainWorkspace } from '@posthorn/use-cases/operate';
import { newUuid, uuidOf } from '@posthorn/kernel';
import { Stack, until } from './stack.ts';

const DAY_MS = 86_400_000;

const stack = Stack.forTests({ sends: false });

/** An email that was sent a number of days ago, in its month's partition. */
async function emailOf(days: number): Promise<string> {
  const acceptedAt = new Date(Date.now() - days * DAY_MS);
  const id = newUuid(acceptedAt.getTime());
  for (const parent of ['emails', 'email_contents', 'email_events', 'email_engagements'])
    await stack.database.pool.query(
      `SELECT make_partition($1, date_trunc('month', $2::timestamptz AT TIME ZONE 'UTC'))`,
      [parent, acceptedAt],
    );
  await stack.database.pool.query(
    `INSERT INTO emails (id, workspace_id, type, status, from_address, to_address, subject, message_id, track_clicks, track_opens, accepted_at, sent_at, idempotency_keys)
     VALUES ($1, $2, 'raw', 'SENT', 'a@example.com', 'b@example.net', 'x', 'old@example.com', false, false, $3, $3, '{}')`,
    [id, uuidOf(stack.tenant.workspaceId), acceptedAt],
  );
  await stack.database.pool.query(`INSERT INTO email_contents (email_id, html) VALUES ($1, '<p>x</p>')`, [
    id,
  ]);
  return id;
}

const has = async (table: string, key: string, id: string): Promise<boolean> =>
  (await stack.count(`SELECT count(*)::int FROM ${table} WHERE ${key} = $1`, [id])) === 1;

describe('The scheduler', () => {
  it('drops past months, removes what a workspace keeps for a shorter time, and nothing else', async () => {
    const [ancient, old, young] = [await emailOf(430), await emailOf(20), await emailOf(2)];
    const days = { contentDays: 7 };
    await retainWorkspace(
      new WorkspaceStore(stack.database),
      stack.tenant.workspaceId,
      operator('test'),
      days,
    );
    const scheduler = await stack.startApp('scheduler');
    await until(async () => !(await has('emails', 'id', ancient)), 'the month is dropped');
    await until(async () => !(await has('email_contents', 'email_id', old)), 'the content is removed');
    expect(await has('emails', 'id', old)).toBe(true);
    expect(await has('emails', 'id', young)).toBe(true);
    expect(await has('email_contents', 'email_id', young)).toBe(true);
    await scheduler.program.waitForOutput('partitions of old emails were dropped');
    expect(scheduler.program.output).not.toMatch(/"level":"(?:warn|error)".*retention/);
  });
});
