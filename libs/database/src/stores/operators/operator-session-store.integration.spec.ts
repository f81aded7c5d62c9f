import { expect, it } from '@jest/globals';
import { randomBytes } from 'node:crypto';
import { SYSTEM_WORKSPACE_ID } from '@posthorn/kernel';
import { openTestStores } from '../../open-test-stores.fixture.ts';
import { AuditLogStore } from '../workspaces/audit-log-store.ts';
import { OperatorSessionStore } from './operator-session-store.ts';

const { database } = await openTestStores();
const sessions = new OperatorSessionStore(database);
const HOUR_MS = 3_600_000;

async function networksTold(): Promise<unknown[]> {
  const page = { limit: 100, sort: 'createdAt.asc' } as const;
  const filter = { action: 'operator.sign_in_refused' } as const;
  const { items } = await new AuditLogStore(database).list(SYSTEM_WORKSPACE_ID, page, filter);
  return items.map(({ detail }) => detail['network']);
}

it('The audit log records once an hour that the attempts of a network are used up, however often that is reported', async () => {
  for (const network of ['203.0.113.7', '203.0.113.7', '203.0.113.8', '203.0.113.7'])
    await sessions.recordRefusal(network, null);
  expect(await networksTold()).toEqual(['203.0.113.7', '203.0.113.8']);
  await database.pool.query(
    `UPDATE audit_log SET id = uuid_v7_floor(now() - interval '61 minutes') WHERE detail ->> 'network' = '203.0.113.7'`,
  );
  await sessions.recordRefusal('203.0.113.7', null);
  expect(await networksTold()).toEqual(['203.0.113.7', '203.0.113.8', '203.0.113.7']);
});

/** A session of somebody whom an identity provider vouches for: whether it is valid, and a way to let time pass for it. */
async function startSession(maxIdleMs: number) {
  const issuer = 'https://provider.example';
  const session = { tokenHash: randomBytes(32), network: '203.0.113.7', maxAgeMs: 12 * HOUR_MS };
  await sessions.signInVouched({ issuer, name: 'ada@provider.example', role: 'viewer' }, session);
  const passes = (time: string) =>
    database.pool.query(
      `UPDATE operator_sessions SET created_at = created_at - $2::interval, last_seen_at = last_seen_at - $2::interval WHERE token_hash = $1`,
      [session.tokenHash, time],
    );
  const counts = async (): Promise<boolean> => {
    const look = { maxAgeMs: session.maxAgeMs, maxIdleMs, isUse: true };
    return (await sessions.find(session.tokenHash, look, { ofAccounts: true, issuer })) !== undefined;
  };
  return { passes, counts };
}

it('A session that has ended for want of activity stays ended, however often its cookie is sent', async () => {
  const { passes, counts } = await startSession(HOUR_MS);
  await passes('59 minutes');
  expect(await counts()).toBe(true);
  await passes('61 minutes');
  for (const _time of [1, 2]) expect(await counts()).toBe(false);
});

it('A session survives when the clock is set back by a month, and expires as if it had begun then', async () => {
  const { passes, counts } = await startSession(8 * HOUR_MS);
  await passes('-1 month');
  expect(await counts()).toBe(true);
  await passes('7 hours');
  expect(await counts()).toBe(true);
  await passes('6 hours');
  expect(await counts()).toBe(false);
});
