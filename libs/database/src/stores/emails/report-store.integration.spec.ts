import { beforeEach, describe, expect, it } from '@jest/globals';
import { type EmailId, newId, uuidOf, type WorkspaceId } from '@posthorn/kernel';
import { decideAfterReport, type Report, type ReportKind } from '@posthorn/domain';
import { delayed, sent } from '../../test-stores.fixture.ts';
import { openTestStores } from '../../open-test-stores.fixture.ts';
import { type AssessedReport, type ReportedEmail, ReportStore } from './report-store.ts';

const stores = await openTestStores();
const store = new ReportStore(stores.database);
let acme: WorkspaceId;

beforeEach(async () => {
  acme = await stores.openWorkspace();
});

const reply = { code: 550, enhancedCode: '5.1.1', text: 'no such user' };
const judging =
  (kind: ReportKind) =>
  ({ status }: ReportedEmail): AssessedReport => {
    const report: Report = { kind, isAboutRecipient: true, reply };
    return { kind, verdict: decideAfterReport(report, status), detail: { reply } };
  };

/** An email that the relay has accepted. */
async function sentEmail(): Promise<EmailId> {
  const email = await stores.acceptAndClaim(acme);
  await stores.outbox.record([sent(email)]);
  return email.id;
}

async function factsOf(id: EmailId): Promise<string[]> {
  return (await stores.timelineOf(id)).map(({ kind, late }) => (late ? `${kind} late` : kind));
}

const suppressed = (): Promise<number> => stores.count('suppressions', 'workspace_id = $1', [uuidOf(acme)]);

describe('A report', () => {
  it('S19, W12: of a failure makes the email BOUNCED and suppresses its recipient, once for repeated and concurrent reports', async () => {
    const id = await sentEmail();
    const outcomes = await Promise.all(Array.from({ length: 6 }, () => store.record(id, judging('failed'))));
    expect(outcomes.sort()).toEqual([...Array.from({ length: 5 }, () => 'known'), 'recorded']);
    expect(await stores.statusOf(id)).toBe('BOUNCED');
    expect(await factsOf(id)).toEqual(['SENT', 'BOUNCED']);
    expect(await suppressed()).toBe(1);
  });

  it('S19: of a complaint after a delivery makes it COMPLAINED, which no later report changes', async () => {
    const id = await sentEmail();
    for (const kind of ['delivered', 'complaint', 'failed', 'delayed', 'unrecognised'] as const) {
      expect(await store.record(id, judging(kind))).toBe('recorded');
    }
    expect(await stores.statusOf(id)).toBe('COMPLAINED');
    expect((await factsOf(id)).sort()).toEqual([
      'BOUNCED late',
      'COMPLAINED',
      'DELAYED late',
      'DELIVERED',
      'SENT',
      'UNRECOGNISED',
    ]);
    expect(
      await stores.ask('SELECT reason FROM suppressions WHERE workspace_id = $1', [uuidOf(acme)]),
    ).toEqual([{ reason: 'COMPLAINT' }]);
  });

  it('of a delivery ends the retries of an email whose SMTP answer was lost, so that it is not sent twice', async () => {
    const email = await stores.acceptAndClaim(acme);
    await stores.outbox.record([delayed(email)]);
    expect(await store.record(email.id, judging('delivered'))).toBe('recorded');
    expect(await stores.rowOf(email.id)).toBeUndefined();
    expect(await stores.statusOf(email.id)).toBe('DELIVERED');
  });

  it('of a delay, or one that cannot be parsed, ends no retries', async () => {
    const email = await stores.acceptAndClaim(acme);
    await stores.outbox.record([delayed(email)]);
    for (const kind of ['delayed', 'unrecognised'] as const) await store.record(email.id, judging(kind));
    expect(await stores.rowOf(email.id)).toMatchObject({ state: 'waiting' });
    expect(await stores.statusOf(email.id)).toBe('SENT');
  });

  it.each([
    {
      change: 'is being claimed',
      sql: `UPDATE outbox SET state = 'taken', claims = 2, lease_until = now() + interval '1 minute' WHERE subject_id = $1`,
      outcome: 'under_way',
      status: 'SENT',
    },
    {
      change: 'is becoming COMPLAINED by another report',
      sql: `UPDATE emails SET status = 'COMPLAINED' WHERE id = $1`,
      outcome: 'recorded',
      status: 'COMPLAINED',
    },
  ])('is judged by what became of an email that $change', async ({ sql, outcome, status }) => {
    const email = await stores.acceptAndClaim(acme);
    await stores.outbox.record([delayed(email)]);
    const client = await stores.another().database.pool.connect();
    await client.query('BEGIN');
    await client.query(sql, [uuidOf(email.id)]);
    const recording = store.record(email.id, judging('delivered'));
    await stores.untilWaiting();
    await client.query('COMMIT');
    client.release();
    expect([await recording, await stores.statusOf(email.id)]).toEqual([outcome, status]);
  });

  it('waits while the email is transmitted, and is ignored for one that does not exist', async () => {
    const email = await stores.acceptAndClaim(acme);
    expect(await store.record(email.id, judging('failed'))).toBe('under_way');
    expect([await factsOf(email.id), await stores.statusOf(email.id)]).toEqual([[], 'SENT']);
    const nobody = newId('trs', Date.now());
    expect([await store.knows(email.id), await store.knows(nobody)]).toEqual([true, false]);
    expect(await store.record(nobody, judging('failed'))).toBe('gone');
  });
});
