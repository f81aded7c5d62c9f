import { expect, it } from '@jest/globals';
import { SYSTEM_WORKSPACE_ID } from '@posthorn/kernel';
import { openOffice } from '../open-office.fixture.ts';
import { AuditLogStore } from './audit-log-store.ts';
import { OperatorSessionStore } from './operator-session-store.ts';

const { database } = await openOffice();
const sessions = new OperatorSessionStore(database);

async function networksTold(): Promise<unknown[]> {
  const page = { limit: 100, sort: 'createdAt.asc' } as const;
  const filter = { action: 'operator.sign_in_refused' } as const;
  const { items } = await new AuditLogStore(database).list(SYSTEM_WORKSPACE_ID, page, filter);
  return items.map(({ detail }) => detail['network']);
}

it('The log is told once an hour that the tries of a network are used up, however often it is said', async () => {
  for (const network of ['203.0.113.7', '203.0.113.7', '203.0.113.8', '203.0.113.7'])
    await sessions.recordRefusal(network, null);
  expect(await networksTold()).toEqual(['203.0.113.7', '203.0.113.8']);
  await database.pool.query(
    `UPDATE audit_log SET id = uuid_v7_floor(now() - interval '61 minutes') WHERE detail ->> 'network' = '203.0.113.7'`,
  );
  await sessions.recordRefusal('203.0.113.7', null);
  expect(await networksTold()).toEqual(['203.0.113.7', '203.0.113.8', '203.0.113.7']);
});
