import { randomBytes } from 'node:crypto';
import { expect, it } from '@jest/globals';
import {
  type ClaimedEmail,
  IdentityStore,
  OutboxStore,
  ReportStore,
  WorkspaceStore,
} from '@posthorn/database';
import { decideAfterAttempt, nowLane, POSTHORN, type RelayedTransmission } from '@posthorn/domain';
import { type EmailId, newId, uuidOf } from '@posthorn/kernel';
import { readReturnedMail } from '@posthorn/reports';
import { parseKeyRing, SignedAddresses } from '@posthorn/signing';
import { openAcceptance } from '../accept/open-acceptance.ts';
import { rawDraft } from '../accept/raw-draft.fixture.ts';
import { openTestDatabase } from '../open-test-database.fixture.ts';
import { outcomeOf } from '../send/outcome-of.ts';
import { TakeReport } from './take-report.ts';

const RECIPIENT = 'b@example.net';
const BOUNCE = Buffer.from(
  [
    'Content-Type: multipart/report; report-type=delivery-status; boundary=b',
    '',
    '--b',
    'Content-Type: message/delivery-status',
    '',
    'Reporting-MTA: dns; mx.example.net',
    '',
    `Final-Recipient: rfc822; ${RECIPIENT}`,
    'Action: failed',
    'Status: 5.1.1',
    'Diagnostic-Code: smtp; 550 5.1.1 User unknown',
    '--b--',
    '',
  ].join('\r\n'),
);
const ACCEPTED: RelayedTransmission = {
  kind: 'accepted',
  reply: { code: 250, text: 'queued' },
  relay: 'relay.example',
};

const database = await openTestDatabase();
const outbox = new OutboxStore(database);
const { id: workspaceId } = await new WorkspaceStore(database).create(POSTHORN, 'Shop', null);
await new IdentityStore(database).put(workspaceId, POSTHORN, {
  kind: 'domain',
  value: 'example.com',
  verified: true,
});
const acceptance = openAcceptance({
  database,
  monthlyLimit: null,
  rings: { ring: () => undefined },
  errorBodyOf: () => {
    throw new Error('none is refused');
  },
});
const parsed = parseKeyRing(`test:${randomBytes(32).toString('base64')}`);
if ('fault' in parsed) throw new Error(parsed.fault);
const addresses = new SignedAddresses(parsed.ring, 'bounce', 'bounces.example.com');
const reports = new TakeReport({
  addresses,
  reports: new ReportStore(database),
  read: readReturnedMail,
  onError: (error) => {
    throw error;
  },
});

/** An email that is being transmitted. */
async function underWay(): Promise<ClaimedEmail> {
  await acceptance.acceptOne(workspaceId, rawDraft({ to: { address: RECIPIENT } }));
  const [email] = await outbox.claimEmails([{ laneId: nowLane(workspaceId), maxRows: 1 }], 1_000_000, 60_000);
  return email!;
}

async function recordAnswer(email: ClaimedEmail): Promise<void> {
  const verdict = decideAfterAttempt(ACCEPTED, email.attempts);
  if (verdict.kind === 'relay_unavailable') throw new Error('it was accepted');
  await outbox.record([outcomeOf(email, Buffer.from('Hello'), ACCEPTED, verdict)]);
}

async function factsOf({ id }: ClaimedEmail): Promise<string[]> {
  const { rows } = await database.pool.query<{ kind: string }>(
    'SELECT kind FROM email_events WHERE email_id = $1 ORDER BY id',
    [uuidOf(id)],
  );
  return rows.map(({ kind }) => kind);
}

it('A report that overtakes the answer of the relay is not taken before that is recorded, so that it is brought again', async () => {
  const email = await underWay();
  expect(await reports.take(email.id, BOUNCE)).toBe(false);
  expect(await factsOf(email)).toEqual([]);
  await recordAnswer(email);
  expect(await reports.take(email.id, BOUNCE)).toBe(true);
  expect(await factsOf(email)).toEqual(['SENT', 'BOUNCED']);
});

it('A report about an email that a restored backup still has as scheduled keeps it from being sent again', async () => {
  const sendAt = new Date(Date.now() + 60_000).toISOString();
  const { answer } = await acceptance.acceptOne(workspaceId, rawDraft({ sendAt }));
  const { id } = JSON.parse(answer) as { id: EmailId };
  expect(await reports.take(id, BOUNCE)).toBe(true);
  const { rows } = await database.pool.query(
    'SELECT status, EXISTS (SELECT FROM outbox WHERE subject_id = emails.id) AS "isDue" FROM emails WHERE id = $1',
    [uuidOf(id)],
  );
  expect(rows).toEqual([{ status: 'BOUNCED', isDue: false }]);
});

it('Mail to the genuine address of an email that does not exist any more finds none', async () => {
  const { id } = await underWay();
  expect(await reports.receiverOf(addresses.addressFor(id))).toBeDefined();
  expect(await reports.receiverOf(addresses.addressFor(newId('trs', Date.now())))).toBeUndefined();
});
