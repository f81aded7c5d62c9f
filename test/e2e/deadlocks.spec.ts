import { describe, expect, it } from '@jest/globals';
import { type ContactId, uuidOf } from '@posthorn/kernel';
import { newRecipient, Stack, until } from './stack.ts';

describe('When Postgres rolls a change back to resolve a deadlock', () => {
  const stack = Stack.forTests({ sends: false });

  it('the caller is told to send it again, and the same call then succeeds', async () => {
    const created = await stack.api().post('/v1/contacts', { email: newRecipient() });
    const { id } = created.body['contact'] as { id: ContactId };
    const unsubscribe = `/v1/contacts/${id}/unsubscribe`;

    // Another program takes the same locks in the opposite order. It never looks for deadlocks itself, so the gateway's transaction is the one to end.
    const other = await stack.database.pool.connect();
    await other.query(
      `BEGIN; SET LOCAL deadlock_timeout = '5min'; SET LOCAL lock_timeout = 0; SET LOCAL idle_in_transaction_session_timeout = 0`,
    );
    await other.query('SELECT FROM workspaces WHERE id = $1 FOR UPDATE', [uuidOf(stack.tenant.workspaceId)]);
    const answer = stack.api().send('POST', unsubscribe, undefined);
    const waiting = `SELECT count(*)::int FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`;
    await until(async () => (await stack.count(waiting)) === 1, 'the gateway waits for the workspace');
    await other.query('SELECT FROM contacts WHERE id = $1 FOR UPDATE', [uuidOf(id)]);
    const { status, headers } = await answer;
    await other.query('ROLLBACK');
    other.release();

    expect([status, headers.get('retry-after')]).toEqual([503, '2']);
    expect((await stack.api().send('POST', unsubscribe, undefined)).body['contact']).toMatchObject({
      status: 'UNSUBSCRIBED',
    });
  });
});
