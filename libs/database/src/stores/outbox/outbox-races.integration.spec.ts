import { describe, expect, it } from '@jest/globals';
import { FIRST_ID, uuidOf, type WorkspaceId } from '@posthorn/kernel';
import { delayed, type TestStores, sent } from '../../test-stores.fixture.ts';
import { openTestStores } from '../../open-test-stores.fixture.ts';
import { faultOf } from '../../faults/faults.ts';
import type { ClaimedEmail } from './claimed-email.ts';
import { RetryStore } from './retry-store.ts';

/** Group sizes for which the planner may choose different joins. */
const SIZES = [1, 3, 50];

const stores = await openTestStores();
const acme = await stores.openWorkspace();

async function claimed(count: number): Promise<ClaimedEmail[]> {
  await stores.acceptEmails(acme, count);
  return stores.claim(acme, count);
}

/** Does something while another process has just renewed the leases of these emails and not committed that yet. */
async function whileRenewed<Result>(
  emails: readonly ClaimedEmail[],
  work: () => Promise<Result>,
): Promise<Result> {
  const client = await stores.database.pool.connect();
  try {
    await client.query('BEGIN');
    await client.query(
      "UPDATE outbox SET lease_until = now() + interval '1 minute' WHERE subject_id = ANY ($1)",
      [emails.map(({ id }) => uuidOf(id))],
    );
    let isOver = false;
    const done = work().finally(() => (isOver = true));
    while (!isOver && (await stores.countWaiting()) === 0);
    await client.query('COMMIT');
    return await done;
  } finally {
    client.release();
  }
}

/** When the machine is suspended for seconds, a statement may time out; that is not a deadlock. */
const unlessLocked = (work: Promise<unknown>): Promise<unknown> =>
  work.catch((error: unknown) => {
    if (faultOf(error) !== 'locked') throw error;
  });

/** One after the other: a test must not be what others wait for crosswise. */
async function endLeases(own: TestStores, emails: readonly ClaimedEmail[]): Promise<void> {
  for (const { id } of emails) await own.letLeasesEnd([id]);
}

describe('While leases are renewed by another statement', () => {
  it.each(SIZES)('outcomes of %i emails are recorded', async (size) => {
    const emails = await claimed(size);
    const outcomes = emails.map((email, n) => (n % 2 === 0 ? sent(email) : delayed(email, 1_000)));
    expect(await whileRenewed(emails, () => stores.outbox.record(outcomes))).toEqual(emails.map(() => true));
  });

  it.each(SIZES)('leases of %i emails are renewed again', async (size) => {
    const emails = await claimed(size);
    expect((await whileRenewed(emails, () => stores.outbox.renew(emails, 60_000))).length).toBe(size);
  });

  it.each(SIZES)('%i emails are given back', async (size) => {
    const emails = await claimed(size);
    await whileRenewed(emails, () => stores.outbox.giveBack(emails));
    expect(await stores.count('outbox', "state = 'ready'")).toBeGreaterThanOrEqual(size);
    await stores.ask("DELETE FROM outbox WHERE state = 'ready'");
  });

  it('claims, renewals, outcomes and rows given back run concurrently for 3 s without deadlocks', async () => {
    const shop = await stores.openWorkspace();
    const others = Array.from({ length: 4 }, () => stores.another(3));
    const until = Date.now() + 3_000;
    const work = async (own: TestStores): Promise<void> => {
      while (Date.now() < until) {
        await own.acceptEmails(shop, 5);
        const emails = await own.claim(shop, 10);
        const works = [
          own.outbox.renew(emails, 60_000),
          own.outbox.record(emails.slice(0, 4).map(sent)),
          own.outbox.giveBack(emails.slice(4)),
          endLeases(own, emails).then(() => own.outbox.revive(0, 20, 5)),
        ];
        await Promise.all(works.map(unlessLocked));
      }
    };
    await Promise.all(others.map(work));
    expect(
      await stores.count('emails', 'workspace_id = $1 AND sent_at IS NOT NULL', [uuidOf(shop)]),
    ).not.toBe(0);
    await expectOutboxOfUnfinished(shop);
  });

  it('retries are hastened beside claims, outcomes and the clock for 3 s without deadlocks', async () => {
    const shop = await stores.openWorkspace();
    const others = Array.from({ length: 4 }, () => stores.another(3));
    const until = Date.now() + 3_000;
    let hastened = 0;
    const hasten = async (own: TestStores): Promise<void> => {
      const group = await new RetryStore(own.database).hastenNext({ queue: 'email' }, FIRST_ID, 2_000);
      hastened += group.hastened;
    };
    const work = async (own: TestStores): Promise<void> => {
      while (Date.now() < until) {
        await own.acceptEmails(shop, 5);
        const emails = await own.claim(shop, 10);
        const outcomes = emails.map((email, n) => (n % 3 === 0 ? sent(email) : delayed(email, 60_000)));
        const works = [
          own.outbox.record(outcomes).then(() => hasten(own)),
          hasten(own),
          own.outbox.makeReady(100),
        ];
        await Promise.all(works.map(unlessLocked));
      }
    };
    await Promise.all(others.map(work));
    expect(hastened).toBeGreaterThan(0);
    await expectOutboxOfUnfinished(shop);
  });

  /** The outbox contains exactly the unfinished emails. */
  async function expectOutboxOfUnfinished(shop: WorkspaceId): Promise<void> {
    const isUnfinished = `(sent_at IS NULL AND status <> 'FAILED')`;
    const isInOutbox = 'EXISTS (SELECT FROM outbox WHERE subject_id = id)';
    const isAmiss = `workspace_id = $1 AND ${isUnfinished} <> ${isInOutbox}`;
    expect(await stores.count('emails', isAmiss, [uuidOf(shop)])).toBe(0);
  }
});
