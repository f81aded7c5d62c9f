import { expect, it } from '@jest/globals';
import { IdentityStore } from '@posthorn/database';
import type { Mailbox } from '@posthorn/domain';
import { SYSTEM_WORKSPACE_ID, uuidOf } from '@posthorn/kernel';
import { openAcceptance } from '../accept/open-acceptance.ts';
import { admitSystemSender, SendSystemMail, type SystemMail } from './send-system-mail.ts';
import { openTestDatabase } from '../open-test-database.fixture.ts';

const FROM: Mailbox = { address: 'posthorn@example.com', name: 'Posthorn' };

const database = await openTestDatabase();

function mail(change: Partial<SystemMail> = {}): SystemMail {
  return {
    to: 'ada@example.net',
    subject: 'Hello',
    html: '<p>Hello</p>',
    text: 'Hello',
    idempotencyKey: 'once',
    ...change,
  };
}

function sendSystemMail(from: Mailbox | undefined): SendSystemMail {
  const acceptEmails = openAcceptance({
    database,
    rings: { ring: () => undefined },
    monthlyLimit: 1,
    errorBodyOf: ({ statusCode, message }) => ({ statusCode, error: '', message }),
  });
  return new SendSystemMail({ acceptEmails, from });
}

async function acceptedFor(address: string): Promise<object[]> {
  const { rows } = await database.pool.query<object>(
    `SELECT workspace_id AS "workspaceId", from_address AS "fromAddress", track_clicks AS "trackClicks"
     FROM   emails WHERE to_address = $1`,
    [address],
  );
  return rows;
}

it('a system mail is accepted once in the system workspace, untracked, whatever the monthly limits of others', async () => {
  await admitSystemSender(new IdentityStore(database), FROM);
  await admitSystemSender(new IdentityStore(database), FROM);
  const system = sendSystemMail(FROM);
  await system.send(mail());
  await system.send(mail());
  await system.send(mail({ to: 'bob@example.net', idempotencyKey: 'another' }));
  const expected = {
    workspaceId: uuidOf(SYSTEM_WORKSPACE_ID),
    fromAddress: FROM.address,
    trackClicks: false,
  };
  expect(await acceptedFor('ada@example.net')).toEqual([expected]);
  expect(await acceptedFor('bob@example.net')).toEqual([expected]);
});

it('a system mail is refused while no sender is set, and the message says who can set it', async () => {
  await admitSystemSender(new IdentityStore(database), undefined);
  const system = sendSystemMail(undefined);
  const refusal = { statusCode: 409, message: expect.stringContaining('has to set `SYSTEM_FROM`') };
  await expect(system.send(mail({ to: 'carl@example.net', idempotencyKey: 'no' }))).rejects.toMatchObject(
    refusal,
  );
  expect(() => system.requireSender()).toThrow('SYSTEM_FROM');
  expect(await acceptedFor('carl@example.net')).toEqual([]);
});
