import { afterEach, describe, expect, it } from '@jest/globals';
import { hash } from 'node:crypto';
import { type EmailId, newId, uuidOf, type WorkspaceId } from '@posthorn/kernel';
import { bulkLane, MAX_MOVES } from '@posthorn/domain';
import { rawEmail } from '../../test-stores.fixture.ts';
import { openTestStores } from '../../open-test-stores.fixture.ts';
import type { AcceptableRawEmail } from '../acceptance/acceptable-email.ts';
import { EmailChanges } from './email-changes.ts';
import { EmailStore, MAX_TIMELINE_ENTRIES } from './email-store.ts';
import type { ClaimedEmail } from '../outbox/claimed-email.ts';

const DAY_MS = 86_400_000;
const KEPT_MS = 30 * DAY_MS;
const NO_END_OF_BYTES = 2 ** 40;

const stores = await openTestStores();
const otherStores = stores.another();
const [changes, otherChanges] = [new EmailChanges(stores.database), new EmailChanges(otherStores.database)];

/** Accepts emails that are to leave in so many milliseconds. */
async function schedule(
  workspaceId: WorkspaceId,
  inMs = DAY_MS,
  count = 1,
  change: Partial<AcceptableRawEmail> = {},
): Promise<EmailId[]> {
  const sendAt = new Date(Date.now() + inMs);
  const emails = Array.from({ length: count }, () =>
    rawEmail(workspaceId, {
      status: 'SCHEDULED',
      sendAt,
      laneId: bulkLane(workspaceId),
      ...change,
    }),
  );
  const outcomes = await stores.accept(emails);
  expect(outcomes.every(({ kind }) => kind === 'accepted')).toBe(true);
  return emails.map(({ id }) => id);
}

/** Accepts scheduled emails that are due and not yet claimed. */
async function scheduleDue(workspaceId: WorkspaceId, count = 1): Promise<EmailId[]> {
  const ids = await schedule(workspaceId, -1_000, count);
  await stores.makeReady(count * 10);
  return ids;
}

function claimBulk(workspaceId: WorkspaceId, maxRows = 100, from = stores): Promise<ClaimedEmail[]> {
  return from.outbox.claimEmails([{ laneId: bulkLane(workspaceId), maxRows }], NO_END_OF_BYTES, 60_000);
}

async function usedBy(workspaceId: WorkspaceId): Promise<number> {
  const [row] = await stores.ask<{ used: number }>(
    'SELECT sum(accepted)::int AS used FROM usage WHERE workspace_id = $1',
    [uuidOf(workspaceId)],
  );
  return row!.used;
}

async function kindsOf(id: EmailId): Promise<string[]> {
  return (await stores.timelineOf(id)).map(({ kind }) => kind);
}

/** Claims an email and gives it back unchanged, without using the store. */
async function claimAndGiveBack(workspaceId: WorkspaceId): Promise<EmailId> {
  const [id] = await scheduleDue(workspaceId);
  await stores.outbox.giveBack(await claimBulk(workspaceId));
  return id!;
}

describe('Cancelling an email', () => {
  it('S18, S13: removes it from the outbox, adds an entry to the timeline, and no longer counts it for the limit', async () => {
    const [acme, globex] = [await stores.openWorkspace(1), await stores.openWorkspace()];
    const [[id]] = [await schedule(acme), await schedule(globex)];
    expect(await changes.cancel(acme, id!)).toBe(true);
    expect(await stores.statusOf(id!)).toBe('CANCELLED');
    expect(await stores.rowOf(id!)).toBeUndefined();
    expect(await kindsOf(id!)).toEqual(['CANCELLED']);
    expect([await usedBy(acme), await usedBy(globex)]).toEqual([0, 1]);
    await schedule(acme);
  });

  it('S18: works when it is due, as long as it is not claimed', async () => {
    const acme = await stores.openWorkspace();
    const [id] = await scheduleDue(acme);
    expect(await changes.cancel(acme, id!)).toBe(true);
    expect(await claimBulk(acme)).toEqual([]);
  });

  it.each<[string, (acme: WorkspaceId) => Promise<EmailId>]>([
    ['one that is sent at once', async (acme) => (await stores.acceptEmails(acme, 1))[0]!],
    ['one that is claimed', async (acme) => (await scheduleDue(acme), (await claimBulk(acme))[0]!.id)],
    ['one that was claimed and given back', claimAndGiveBack],
    [
      'one that was cancelled before',
      async (acme) => {
        const [id] = await schedule(acme);
        await changes.cancel(acme, id!);
        return id!;
      },
    ],
    ['one that does not exist', () => Promise.resolve(newId('trs', Date.now()))],
    ['one of another workspace', async () => (await schedule(await stores.openWorkspace()))[0]!],
  ])('S18, G3: changes nothing of %s, nor does moving it', async (_what, make) => {
    const acme = await stores.openWorkspace();
    const id = await make(acme);
    const before = [await stores.statusOf(id), await stores.rowOf(id), await stores.timelineOf(id)];
    const used = await usedBy(acme);
    expect(await changes.cancel(acme, id)).toBe(false);
    expect(
      await changes.reschedule(acme, id, { at: new Date(Date.now() + DAY_MS), keysKeptMs: KEPT_MS }),
    ).toBeUndefined();
    const after = [await stores.statusOf(id), await stores.rowOf(id), await stores.timelineOf(id)];
    expect(withoutSeconds(after)).toEqual(withoutSeconds(before));
    expect(await usedBy(acme)).toBe(used);
  });

  it('S13: reduces the usage of the month in which it was counted, however late it was written', async () => {
    const acme = await stores.openWorkspace();
    await schedule(acme);
    const [id] = await schedule(acme, DAY_MS, 1, { acceptedAt: new Date('2020-01-31T23:59:59.999Z') });
    const use = () =>
      stores.ask('SELECT accepted FROM usage WHERE workspace_id = $1 ORDER BY month', [uuidOf(acme)]);
    expect(await use()).toEqual([{ accepted: 1 }, { accepted: 1 }]);
    expect(await changes.cancel(acme, id!)).toBe(true);
    expect(await use()).toEqual([{ accepted: 0 }, { accepted: 1 }]);
  });

  it('S18: works for a workspace without a usage row for the month', async () => {
    const acme = await stores.openWorkspace();
    const [id] = await schedule(acme);
    await stores.ask('DELETE FROM usage WHERE workspace_id = $1', [uuidOf(acme)]);
    expect(await changes.cancel(acme, id!)).toBe(true);
  });
});

/** Leaves out what the passing of time changes. */
function withoutSeconds(facts: readonly unknown[]): unknown {
  return JSON.parse(JSON.stringify(facts, (key, value: unknown) => (key.endsWith('Seconds') ? null : value)));
}

describe('Rescheduling an email', () => {
  it.each([
    ['later', 2 * DAY_MS],
    ['earlier', 60_000],
  ])('S18: to a time that is %s makes it due then, and not before', async (_which, inMs) => {
    const acme = await stores.openWorkspace();
    const [id] = await schedule(acme);
    const at = new Date(Date.now() + inMs);
    expect(await changes.reschedule(acme, id!, { at: at, keysKeptMs: KEPT_MS })).toEqual({
      laneId: bulkLane(acme),
      isDue: false,
    });
    expect(await stores.rowOf(id!)).toMatchObject({ state: 'waiting', claims: 1 });
    expect((await stores.rowOf(id!))!.dueAt).toEqual(at);
    const [email] = await stores.ask('SELECT send_at, status FROM emails WHERE id = $1', [uuidOf(id!)]);
    expect(email).toEqual({ send_at: at, status: 'SCHEDULED' });
    const [event] = await stores.ask('SELECT kind, detail FROM email_events WHERE email_id = $1', [
      uuidOf(id!),
    ]);
    expect(event).toEqual({ kind: 'RESCHEDULED', detail: { sendAt: at.toISOString() } });
  });

  it.each<[string, () => Date | null]>([
    ['now', () => null],
    ['a time that has passed by the database', () => new Date(Date.now() - 60_000)],
  ])('S10, S18: to %s makes it ready at once', async (_when, at) => {
    const acme = await stores.openWorkspace();
    const [id] = await schedule(acme);
    const moved = await stores.duringDatabaseTime(() =>
      changes.reschedule(acme, id!, { at: at(), keysKeptMs: KEPT_MS }),
    );
    expect(moved.result).toEqual({ laneId: bulkLane(acme), isDue: true });
    const [claimed] = await claimBulk(acme);
    expect(claimed!.id).toBe(id);
    expect(claimed!.fellDueAt.getTime()).toBeGreaterThanOrEqual(moved.from.getTime());
    expect(claimed!.fellDueAt.getTime()).toBeLessThanOrEqual(moved.to.getTime());
    expect(await stores.statusOf(id!)).toBe('SENT');
  });

  it('is shown with the newest entries of the timeline, if it was moved more often than they are shown', async () => {
    const acme = await stores.openWorkspace();
    const [id] = await schedule(acme);
    await stores.ask(
      `INSERT INTO email_events (email_id, kind, at, detail)
       SELECT $1, 'RESCHEDULED', now() - make_interval(secs => 601 - n), '{}' FROM generate_series(1, 600) n`,
      [uuidOf(id!)],
    );
    expect(await changes.cancel(acme, id!)).toBe(true);
    const { timeline } = (await new EmailStore(stores.database).find(acme, id!))!;
    expect(timeline).toHaveLength(MAX_TIMELINE_ENTRIES);
    expect(timeline.at(-1)).toMatchObject({ kind: 'CANCELLED' });
    expect(timeline).toEqual([...timeline].sort((a, b) => a.at.getTime() - b.at.getTime()));
  });

  it('S18: is refused once it was moved 10,000 times; then it can still be cancelled', async () => {
    const acme = await stores.openWorkspace();
    const [id] = await schedule(acme);
    await stores.ask('UPDATE outbox SET claims = $2 WHERE subject_id = $1', [uuidOf(id!), MAX_MOVES - 1]);
    const move = (): Promise<unknown> => changes.reschedule(acme, id!, { at: null, keysKeptMs: KEPT_MS });
    expect(await move()).toMatchObject({ isDue: true });
    expect(await move()).toBeUndefined();
    expect(await changes.cancel(acme, id!)).toBe(true);
  });

  it('S18: makes a due email wait again when it is moved to later', async () => {
    const acme = await stores.openWorkspace();
    const [id] = await scheduleDue(acme);
    await changes.reschedule(acme, id!, { at: new Date(Date.now() + DAY_MS), keysKeptMs: KEPT_MS });
    expect(await claimBulk(acme)).toEqual([]);
  });

  describe('that was due', () => {
    const changed = {
      'moved to later': (workspaceId: WorkspaceId, id: EmailId) =>
        changes.reschedule(workspaceId, id, { at: new Date(Date.now() + DAY_MS), keysKeptMs: KEPT_MS }),
      'moved to now': async (workspaceId: WorkspaceId, id: EmailId) => {
        await changes.reschedule(workspaceId, id, { at: null, keysKeptMs: KEPT_MS });
        await claimBulk(workspaceId);
      },
      'cancelled': (workspaceId: WorkspaceId, id: EmailId) => changes.cancel(workspaceId, id),
    };
    const EACH_CHANGE = Object.entries(changed);

    /** Whether the timeline of an email says that it may be, or was, sent although it was changed. */
    async function isPossibleDuplicate(change: (typeof EACH_CHANGE)[number][1], before?: string) {
      const acme = await stores.openWorkspace();
      const [id] = await scheduleDue(acme);
      if (before !== undefined) await stores.ask(before, [uuidOf(id!)]);
      await change(acme, id!);
      return (await stores.timelineOf(id!)).some(({ duplicatePossible }) => duplicatePossible);
    }

    it.each(EACH_CHANGE)(
      'and is %s is no possible duplicate: it was never claimed',
      async (_what, change) => {
        expect(await isPossibleDuplicate(change)).toBe(false);
      },
    );

    describe('while what a restore has paused waits', () => {
      afterEach(() => stores.ask('DELETE FROM event_eras WHERE era = 99'));

      const restoreIn = (time: string): Promise<object[]> =>
        stores.ask(
          `INSERT INTO event_eras (era, system_identifier, database_oid, table_oid, began_at, released_at)
           VALUES (99, 1, 1, 1, now() + $1::interval, NULL)`,
          [time],
        );

      it.each(EACH_CHANGE)(
        'and is %s is a possible duplicate if it was due before',
        async (_what, change) => {
          await restoreIn('1 hour');
          expect(await isPossibleDuplicate(change)).toBe(true);
        },
      );

      it.each(EACH_CHANGE)('and is %s is none if it fell due after', async (_what, change) => {
        await restoreIn('-1 hour');
        expect(await isPossibleDuplicate(change)).toBe(false);
      });
    });

    it.each(EACH_CHANGE)(
      'and is %s is a possible duplicate when resuming has marked it as one',
      async (_what, change) => {
        const marking = 'UPDATE outbox SET lease_until = now() WHERE subject_id = $1';
        expect(await isPossibleDuplicate(change, marking)).toBe(true);
      },
    );
  });

  it('S11: keeps its keys for 30 days after the new time, and never for less than before', async () => {
    const acme = await stores.openWorkspace();
    const idempotency = {
      key: 'order 7',
      fingerprint: hash('sha256', '', 'buffer'),
      answer: '{}',
      expiresAt: new Date(Date.now() + DAY_MS + KEPT_MS),
    };
    const sendAt = new Date(Date.now() + DAY_MS);
    const email = rawEmail(acme, { status: 'SCHEDULED', sendAt, laneId: bulkLane(acme), idempotency });
    const ofCall = { ...idempotency, key: 'orders', answerFor: () => '{}' };
    await stores.acceptance.accept([{ workspaceId: acme, emails: [email], idempotency: ofCall }], null);
    const expiries = () =>
      stores.ask('SELECT expires_at FROM idempotency_keys WHERE workspace_id = $1', [uuidOf(acme)]);
    const later = new Date(Date.now() + 50 * DAY_MS);
    await changes.reschedule(acme, email.id, { at: later, keysKeptMs: KEPT_MS });
    const extended = { expires_at: new Date(later.getTime() + KEPT_MS) };
    expect(await expiries()).toEqual([extended, extended]);
    await changes.reschedule(acme, email.id, { at: new Date(Date.now() + 60_000), keysKeptMs: KEPT_MS });
    expect(await expiries()).toEqual([extended, extended]);
  });
});

describe('Concurrent changes of an email', () => {
  const ROUNDS = 40;

  it('S18, S13: one of two concurrent cancellations takes effect, and the usage is reduced once', async () => {
    const acme = await stores.openWorkspace();
    const ids = await schedule(acme, DAY_MS, ROUNDS);
    for (const id of ids) {
      const done = await Promise.all([changes.cancel(acme, id), otherChanges.cancel(acme, id)]);
      expect(done.filter(Boolean)).toHaveLength(1);
    }
    expect(await usedBy(acme)).toBe(0);
  });

  it('S18, S13: it is cancelled or claimed, never both, and only cancelled ones reduce the usage', async () => {
    const acme = await stores.openWorkspace();
    const ids = await scheduleDue(acme, ROUNDS);
    const claiming = (async () => {
      const claimed: ClaimedEmail[] = [];
      for (let tries = 0; tries < ROUNDS; tries += 1)
        claimed.push(...(await claimBulk(acme, 1, otherStores)));
      return claimed;
    })();
    // In opposite order, so that both meet in the middle, repeatedly.
    const cancelled: EmailId[] = [];
    for (const id of [...ids].reverse()) if (await changes.cancel(acme, id)) cancelled.push(id);
    const claimed = [...(await claiming), ...(await claimBulk(acme))].map(({ id }) => id);
    expect([...cancelled, ...claimed].sort()).toEqual([...ids].sort());
    expect(await usedBy(acme)).toBe(claimed.length);
    for (const id of claimed) expect(await stores.statusOf(id)).toBe('SENT');
  });

  it.each([
    ['is being sent', `state = 'taken', lease_until = now() + interval '1 minute'`],
    ['was given back', `state = 'ready'`],
    ['failed for now', `state = 'waiting', attempts = 1, due_at = now() + interval '1 minute'`],
  ])('S18: a claim is waited for, and an email that %s is not changed', async (_what, then) => {
    const acme = await stores.openWorkspace();
    const [id] = await scheduleDue(acme);
    const client = await otherStores.database.pool.connect();
    await client.query('BEGIN');
    await client.query(`UPDATE outbox SET claims = claims + 1, ${then} WHERE subject_id = $1`, [uuidOf(id!)]);
    await client.query(`UPDATE emails SET status = 'SENT' WHERE id = $1`, [uuidOf(id!)]);
    const cancelling = changes.cancel(acme, id!);
    const moving = otherChanges.reschedule(acme, id!, { at: null, keysKeptMs: KEPT_MS });
    await stores.untilWaiting(2);
    await client.query('COMMIT');
    client.release();
    expect([await cancelling, await moving]).toEqual([false, undefined]);
    expect(await stores.statusOf(id!)).toBe('SENT');
    expect(await kindsOf(id!)).toEqual([]);
    expect(await usedBy(acme)).toBe(1);
  });

  it('S18: one that is cancelled and moved concurrently is cancelled, whichever is first', async () => {
    const acme = await stores.openWorkspace();
    for (const id of await schedule(acme, DAY_MS, ROUNDS)) {
      const [isCancelled] = await Promise.all([
        changes.cancel(acme, id),
        otherChanges.reschedule(acme, id, { at: null, keysKeptMs: KEPT_MS }),
      ]);
      expect(isCancelled).toBe(true);
      expect(await stores.rowOf(id)).toBeUndefined();
    }
    expect(await claimBulk(acme)).toEqual([]);
    expect(await usedBy(acme)).toBe(0);
  });

  it('S18: one that is claimed while it is moved is sent with the stored time', async () => {
    const acme = await stores.openWorkspace();
    const ids = await scheduleDue(acme, ROUNDS);
    const moving = (async () => {
      for (let round = 0; round < 5; round += 1) {
        await Promise.all(ids.map((id) => changes.reschedule(acme, id, { at: null, keysKeptMs: KEPT_MS })));
      }
    })();
    const claimed: ClaimedEmail[] = [];
    while (claimed.length < ids.length) claimed.push(...(await claimBulk(acme, 3, otherStores)));
    await moving;
    for (const { id, fellDueAt } of claimed) {
      const [row] = await stores.ask('SELECT send_at FROM emails WHERE id = $1', [uuidOf(id)]);
      expect(row).toEqual({ send_at: fellDueAt });
    }
  });

  it('S13: acceptances, claims and cancellations of one workspace do not deadlock', async () => {
    const acme = await stores.openWorkspace();
    const ids = await scheduleDue(acme, ROUNDS);
    const accepting = Promise.all(ids.map(() => stores.acceptEmails(acme, 1)));
    const cancelling = Promise.all(ids.map((id) => otherChanges.cancel(acme, id)));
    const claiming = Promise.all(Array.from({ length: 10 }, () => claimBulk(acme, 2)));
    const [, cancelled] = await Promise.all([accepting, cancelling, claiming]);
    expect(await usedBy(acme)).toBe(2 * ROUNDS - cancelled.filter(Boolean).length);
  });
});
