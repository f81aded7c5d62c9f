import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { type EmailId, sleep, uuidOf, type WorkspaceId } from '@posthorn/kernel';
import { bulkLane, EVERY_LANE, MAX_LEASE_MS, nowLane } from '@posthorn/domain';
import { scheduledEmail, sent } from '../../test-stores.fixture.ts';
import { openTestStores } from '../../open-test-stores.fixture.ts';
import { runOutOfTimeBeyond } from '../../run-out-of-time.fixture.ts';
import { COUNT_EMAILS } from '../../sql/backlog.ts';
import { executedPlan } from '../../sql/plan.fixture.ts';
import { OutboxStore } from './outbox-store.ts';

const GRACE_MS = 15_000;
const HOUR_MS = 3_600_000;
const MAX_UNANSWERED = 5;

const stores = await openTestStores();
let acme: WorkspaceId;

beforeEach(async () => {
  await stores.ask('DELETE FROM outbox');
  acme = await stores.openWorkspace();
});

/** Runs `meanwhile` while another transaction has changed an outbox row and is not committed yet. */
async function whileChanging(id: EmailId, change: string, meanwhile: () => Promise<void>): Promise<void> {
  const client = await stores.database.pool.connect();
  await client.query('BEGIN');
  await client.query(`UPDATE outbox SET ${change} WHERE subject_id = $1`, [uuidOf(id)]);
  try {
    await meanwhile();
  } finally {
    await client.query('COMMIT');
    client.release();
  }
}

describe('Renewing leases', () => {
  it('extends them, and reports which are still valid', async () => {
    await stores.acceptEmails(acme, 3);
    const claimed = await stores.claim(acme, 100, 1_000);
    await stores.outbox.record([sent(claimed[1]!)]);
    const moved = { ...claimed[2]!, claims: claimed[2]!.claims - 1 };

    const renewal = await stores.duringDatabaseTime(() =>
      stores.outbox.renew([claimed[0]!, claimed[1]!, moved], 120_000),
    );
    expect(renewal.result).toEqual([claimed[0]]);
    const { leaseUntil } = (await stores.rowOf(claimed[0]!.id))!;
    expect(leaseUntil!.getTime()).toBeGreaterThanOrEqual(renewal.from.getTime() + 120_000);
    expect(leaseUntil!.getTime()).toBeLessThanOrEqual(renewal.to.getTime() + 120_000);
    expect((await stores.rowOf(claimed[2]!.id))!.leaseSeconds).toBeLessThanOrEqual(1);
  });

  it('does not restore a lease that was revoked', async () => {
    const claimed = await stores.acceptAndClaim(acme);
    await stores.letLeasesEnd([claimed.id]);
    await stores.revive();
    expect(await stores.outbox.renew([claimed], 60_000)).toEqual([]);
    expect(await stores.rowOf(claimed.id)).toMatchObject({ state: 'ready', claims: 1 });
  });
});

describe('Giving back', () => {
  it('leaves the row as before the claim, except for the fencing token', async () => {
    const [id] = await stores.acceptEmails(acme, 1);
    const before = await stores.rowOf(id!);
    await stores.outbox.giveBack(await stores.claim(acme));
    const after = await stores.rowOf(id!);
    expect(after).toEqual({ ...before, claims: 1, dueInSeconds: after!.dueInSeconds });
  });

  it('forgets no earlier claim that ended without an outcome', async () => {
    const { id } = await stores.acceptAndClaim(acme);
    await stores.letLeasesEnd([id]);
    await stores.revive();
    await stores.outbox.giveBack(await stores.claim(acme));
    expect(await stores.rowOf(id)).toMatchObject({ state: 'ready', claims: 2, unanswered: 1 });
  });

  it('does not change a row that another process has claimed meanwhile', async () => {
    const claimed = await stores.acceptAndClaim(acme);
    await stores.letLeasesEnd([claimed.id]);
    await stores.revive();
    await stores.claim(acme);
    await stores.outbox.giveBack([claimed]);
    expect(await stores.rowOf(claimed.id)).toMatchObject({ state: 'taken', claims: 2, unanswered: 2 });
  });
});

describe('Making due rows ready', () => {
  it('makes due rows ready, the longest due first, up to a limit', async () => {
    const due = [3, 1, 2].map((minutes) => scheduledEmail(acme, new Date(Date.now() - minutes * 60_000)));
    const later = scheduledEmail(acme, new Date(Date.now() + 60_000));
    await stores.accept([...due, later], null);
    const states = () => Promise.all([...due, later].map(async ({ id }) => (await stores.rowOf(id))!.state));

    expect(await stores.makeReady(2)).toBe(2);
    expect(await states()).toEqual(['ready', 'waiting', 'ready', 'waiting']);
    expect(await stores.makeReady(2)).toBe(1);
    expect(await stores.makeReady(2)).toBe(0);
    expect(await states()).toEqual(['ready', 'ready', 'ready', 'waiting']);
  });

  it('does not wait for a row that somebody else changes', async () => {
    const [moved, due] = [2, 1].map((minutes) =>
      scheduledEmail(acme, new Date(Date.now() - minutes * 60_000)),
    );
    await stores.accept([moved!, due!]);
    await whileChanging(moved!.id, `due_at = now() + interval '1 day'`, async () => {
      expect(await stores.makeReady()).toBe(1);
    });
    expect(await stores.rowOf(due!.id)).toMatchObject({ state: 'ready' });
    expect(await stores.rowOf(moved!.id)).toMatchObject({ state: 'waiting' });
  });
});

describe('Reviving', () => {
  it('makes rows ready whose lease and grace period have ended, and no others', async () => {
    await stores.acceptEmails(acme, 3);
    const [long, short, alive] = await stores.claim(acme);
    const endLease = (id: typeof long, seconds: number) =>
      stores.ask(`UPDATE outbox SET lease_until = now() - make_interval(secs => $2) WHERE subject_id = $1`, [
        uuidOf(id!.id),
        seconds,
      ]);
    // Far apart: between these statements, a busy machine may stand still for longer than the usual grace period.
    await endLease(long, 7_200);
    await endLease(short, 60);

    expect(await stores.revive({ graceMs: HOUR_MS })).toEqual({ revived: 1, givenUp: 0 });
    expect(await stores.rowOf(long!.id)).toMatchObject({ state: 'ready', unanswered: 1, claims: 1 });
    expect(await stores.rowOf(short!.id)).toMatchObject({ state: 'taken' });
    expect(await stores.rowOf(alive!.id)).toMatchObject({ state: 'taken' });
  });

  it('counts a lease as ended as of the time that it is given, because the statement may be executed long after it was sent', async () => {
    const { id } = await stores.acceptAndClaim(acme);
    const asOfMs = Date.now() - 2 * HOUR_MS;
    await stores.ask(`UPDATE outbox SET lease_until = now() - interval '1 hour' WHERE subject_id = $1`, [
      uuidOf(id),
    ]);
    expect(await stores.revive({ asOfMs })).toEqual({
      revived: 0,
      givenUp: 0,
    });
    expect(await stores.rowOf(id)).toMatchObject({ state: 'taken' });
    const later = Date.now() + HOUR_MS;
    expect(await stores.revive({ asOfMs: later })).toEqual({
      revived: 1,
      givenUp: 0,
    });
  });

  it('makes rows ready whose lease is longer than possible: they were claimed before the clock was set back', async () => {
    await stores.acceptEmails(acme, 2);
    const [longest, dead] = await stores.claim(acme, 100, MAX_LEASE_MS);
    await stores.ask(
      `UPDATE outbox SET lease_until = lease_until + interval '1 minute' WHERE subject_id = $1`,
      [uuidOf(dead!.id)],
    );
    expect(await stores.revive()).toEqual({ revived: 1, givenUp: 0 });
    expect(await stores.rowOf(longest!.id)).toMatchObject({ state: 'taken' });
    expect(await stores.claim(acme)).toMatchObject([{ id: dead!.id, claims: 2 }]);
    expect(await stores.timelineOf(dead!.id)).toMatchObject([{ kind: 'WORKER_DIED', claims: 1 }]);
  });

  it('makes rows ready whose lease an operator has set to a time before or after all others', async () => {
    await stores.acceptEmails(acme, 2);
    const [ended, endless] = await stores.claim(acme);
    const setLease = `UPDATE outbox SET lease_until = $2::timestamptz WHERE subject_id = $1`;
    await stores.ask(setLease, [uuidOf(ended!.id), '-infinity']);
    await stores.ask(setLease, [uuidOf(endless!.id), 'infinity']);
    expect(await stores.revive()).toEqual({ revived: 2, givenUp: 0 });
  });

  it('does not wait for a row whose outcome is being recorded, nor changes it', async () => {
    await stores.acceptEmails(acme, 2);
    const [answered, dead] = await stores.claim(acme);
    await stores.letLeasesEnd([answered!.id, dead!.id]);
    const retried = `state = 'waiting', lease_until = NULL, due_at = now() + interval '1 day'`;
    await whileChanging(answered!.id, retried, async () => {
      const freed = await stores.revive();
      expect(freed).toEqual({ revived: 1, givenUp: 0 });
    });
    expect(await stores.rowOf(dead!.id)).toMatchObject({ state: 'ready' });
    expect(await stores.rowOf(answered!.id)).toMatchObject({ state: 'waiting' });
  });

  it('makes a limited number of rows ready at a time', async () => {
    await stores.acceptEmails(acme, 5);
    await stores.letLeasesEnd((await stores.claim(acme)).map(({ id }) => id));
    expect(await stores.revive({ limit: 3 })).toEqual({ revived: 3, givenUp: 0 });
    expect(await stores.revive({ limit: 3 })).toEqual({ revived: 2, givenUp: 0 });
  });

  it('gives up an email after five claims in a row without an outcome', async () => {
    const [id] = await stores.acceptEmails(acme, 1);
    for (let claims = 1; claims <= MAX_UNANSWERED; claims += 1) {
      expect(await stores.claim(acme)).toHaveLength(1);
      await stores.letLeasesEnd([id!]);
      const last = claims === MAX_UNANSWERED;
      expect(await stores.revive()).toEqual({
        revived: last ? 0 : 1,
        givenUp: last ? 1 : 0,
      });
    }
    expect(await stores.statusOf(id!)).toBe('FAILED');
    expect(await stores.rowOf(id!)).toBeUndefined();
    const timeline = await stores.timelineOf(id!);
    expect(timeline.map(({ kind, claims }) => [kind, claims])).toEqual([
      ['WORKER_DIED', 1],
      ['WORKER_DIED', 2],
      ['WORKER_DIED', 3],
      ['WORKER_DIED', 4],
      ['FAILED', 5],
    ]);
    expect(timeline.every(({ duplicatePossible }) => duplicatePossible)).toBe(true);
    const [last] = await stores.ask(
      `SELECT detail FROM email_events WHERE email_id = $1 AND kind = 'FAILED'`,
      [uuidOf(id!)],
    );
    expect(last).toEqual({ detail: { reason: 'worker_died' } });
  });

  it('never gives up an event', async () => {
    await stores.ask(
      `INSERT INTO outbox (subject_id, queue, lane_id, state, due_at, lease_until, unanswered)
       VALUES (gen_random_uuid(), 'event', 'wrk_1.events', 'taken', now(), now() - interval '1 hour', 99)`,
    );
    expect(await stores.revive()).toEqual({ revived: 1, givenUp: 0 });
  });

  it('makes each row ready once, however many clocks there are', async () => {
    await stores.acceptEmails(acme, 60);
    await stores.letLeasesEnd((await stores.claim(acme)).map(({ id }) => id));
    const freed = await Promise.all(Array.from({ length: 6 }, () => stores.revive({ limit: 60 })));
    expect(freed.reduce((sum, { revived }) => sum + revived, 0)).toBe(60);
  });
});

describe('When a statement times out with many rows', () => {
  let inTimeAgain: () => Promise<void>;
  const takeNoMoreThan = async (rows: number): Promise<void> => {
    inTimeAgain = await runOutOfTimeBeyond(stores, rows, 'UPDATE', 'outbox');
  };
  afterEach(() => inTimeAgain());

  /**
   * Deals with so many rows, and says how many it were in all and in the largest group. Postgres tells of a failure before it lets go of the locks
   * of the statement that failed, and what is locked is skipped: until then a group may be empty, or small.
   */
  async function dealWith(rows: number, deal: () => Promise<number>): Promise<{ all: number; max: number }> {
    const dealt = { all: 0, max: 0 };
    const endsAtMs = Date.now() + 60_000;
    while (dealt.all < rows && Date.now() < endsAtMs) {
      const group = await deal();
      dealt.all += group;
      dealt.max = Math.max(dealt.max, group);
    }
    return dealt;
  }

  it('fewer rows are made ready at a time, until all are', async () => {
    const outbox = new OutboxStore(stores.database);
    const due = Array.from({ length: 5 }, () => scheduledEmail(acme, new Date(Date.now() - 60_000)));
    await stores.accept(due, null);
    await takeNoMoreThan(2);
    expect(await dealWith(5, () => outbox.makeReady(5))).toEqual({ all: 5, max: 2 });
  });

  it('fewer rows are revived at a time, until all are', async () => {
    const outbox = new OutboxStore(stores.database);
    await stores.acceptEmails(acme, 5);
    await stores.letLeasesEnd((await stores.claim(acme)).map(({ id }) => id));
    await takeNoMoreThan(2);
    const revive = async () => (await outbox.revive(GRACE_MS, 5, MAX_UNANSWERED)).revived;
    expect(await dealWith(5, revive)).toEqual({ all: 5, max: 2 });
  });
});

describe('The lanes with ready rows', () => {
  const rowIn = (queue: string, laneId: string, state: string) =>
    stores.ask(
      `INSERT INTO outbox (subject_id, queue, lane_id, state, due_at, lease_until)
       VALUES (gen_random_uuid(), $1, $2, $3::outbox_state, now(), CASE WHEN $3 = 'taken' THEN now() END)`,
      [queue, laneId, state],
    );

  it('are none when nothing is ready', async () => {
    await rowIn('email', 'a', 'waiting');
    await rowIn('email', 'b', 'taken');
    expect(await stores.outbox.lanesWithReadyRows()).toEqual([]);
  });

  it('are each returned once, for every queue, except for paused ones', async () => {
    for (const [queue, laneId] of [
      ['email', 'a'],
      ['email', 'a'],
      ['email', 'b'],
      ['event', 'a'],
      ['webhook', 'c'],
      ['webhook', 'd'],
    ])
      await rowIn(queue!, laneId!, 'ready');
    await rowIn('webhook', 'z', 'waiting');
    const lanes = async () =>
      (await stores.outbox.lanesWithReadyRows()).map(({ queue, laneId }) => `${queue}/${laneId}`).sort();

    expect(await lanes()).toEqual(['email/a', 'email/b', 'event/a', 'webhook/c', 'webhook/d']);
    await stores.pause('email', 'a');
    await stores.pause('webhook', EVERY_LANE);
    expect(await lanes()).toEqual(['email/b', 'event/a']);
    await stores.resume('webhook', EVERY_LANE);
    expect(await lanes()).toEqual(['email/b', 'event/a', 'webhook/c', 'webhook/d']);
  });

  it('include the lane of emails that still has ready rows', async () => {
    await stores.acceptEmails(acme, 2);
    await stores.claim(acme, 1);
    expect(await stores.outbox.lanesWithReadyRows()).toEqual([
      { queue: 'email', laneId: nowLane(acme), isSlow: false },
    ]);
    await stores.claim(acme, 1);
    expect(await stores.outbox.lanesWithReadyRows()).toEqual([]);
  });
});

describe('While skipping dead rows takes long', () => {
  /** Does the work while the outbox is locked, so that it takes more than a second. */
  async function slowly<Result>(work: () => Promise<Result>): Promise<Result> {
    const holder = await stores.database.pool.connect();
    await holder.query('BEGIN');
    await holder.query('LOCK TABLE outbox IN ACCESS EXCLUSIVE MODE');
    const result = work();
    await stores.untilWaiting();
    await sleep(1_000);
    await holder.query('COMMIT');
    holder.release();
    return result;
  }

  it('rows are made ready, and revived, from near where that ended the last time, and later from the front again', async () => {
    const outbox = new OutboxStore(stores.database);
    const makeReady = () => outbox.makeReady(10);
    const revive = async () => (await outbox.revive(GRACE_MS, 10, MAX_UNANSWERED)).revived;
    for (const step of [makeReady, makeReady, revive, revive]) expect(await slowly(step)).toBe(0);

    await stores.acceptEmails(acme, 2);
    const [old, recent] = (await stores.claim(acme)).map(({ id }) => uuidOf(id));
    const endLease = (id: string, seconds: number) =>
      stores.ask(`UPDATE outbox SET lease_until = now() - make_interval(secs => $2) WHERE subject_id = $1`, [
        id,
        seconds,
      ]);
    await endLease(old!, 3_600);
    await endLease(recent!, GRACE_MS / 1_000 + 1);
    await stores.accept([HOUR_MS, 1_000].map((ago) => scheduledEmail(acme, new Date(Date.now() - ago))));

    expect([await makeReady(), await revive()]).toEqual([1, 1]);
    expect(await new OutboxStore(stores.database).makeReady(10)).toBe(1);
    expect((await new OutboxStore(stores.database).revive(GRACE_MS, 10, MAX_UNANSWERED)).revived).toBe(1);
  });

  it('the lanes with ready rows are those in which rows were made ready or revived since', async () => {
    const outbox = new OutboxStore(stores.database);
    const globex = await stores.openWorkspace();
    await stores.acceptEmails(acme, 1);
    for (let n = 0; n < 2; n += 1)
      expect((await slowly(() => outbox.lanesWithReadyRows())).map(({ laneId }) => laneId)).toEqual([
        nowLane(acme),
      ]);

    await stores.accept([1, 2].map(() => scheduledEmail(acme, new Date(Date.now() - 60_000))));
    await stores.acceptEmails(globex, 1);
    await stores.letLeasesEnd((await stores.claim(globex)).map(({ id }) => id));
    await stores.ask('INSERT INTO slow_lanes (lane_id) VALUES ($1)', [nowLane(globex)]);
    await outbox.makeReady(10);
    await outbox.revive(GRACE_MS, 10, MAX_UNANSWERED);
    const found = await outbox.lanesWithReadyRows();
    await stores.ask('DELETE FROM slow_lanes');
    expect(found).toEqual([
      { queue: 'email', laneId: bulkLane(acme), isSlow: false },
      { queue: 'email', laneId: nowLane(globex), isSlow: true },
    ]);
    expect(await outbox.lanesWithReadyRows()).toEqual([]);
  });
});

describe('The emails in each state', () => {
  it('are counted without reading all deliveries that wait for a retry', async () => {
    await stores.accept(
      [24, 48, 72].map((hours) => scheduledEmail(acme, new Date(Date.now() + hours * HOUR_MS))),
    );
    await stores.ask(
      `INSERT INTO outbox (subject_id, queue, lane_id, state, due_at)
       SELECT gen_random_uuid(), 'webhook', 'lane', 'waiting', now() + n * interval '1 second' FROM generate_series(1, 500) n`,
    );
    const backlog = { due: 0, waiting: 3, taken: 0 };
    expect(await stores.outbox.countEmails(20)).toEqual({ countedTo: 20, ...backlog, isMoreWaiting: true });
    expect(await stores.outbox.countEmails(1_000)).toEqual({
      countedTo: 1_000,
      ...backlog,
      isMoreWaiting: false,
    });

    const plan = await executedPlan(stores.database.pool, { text: COUNT_EMAILS, values: [20] });
    const waiting = plan.find((node) => node['Index Name'] === 'outbox_waiting_by_due_idx')!;
    expect(waiting['Actual Rows']).toBe(20);
    expect(waiting['Rows Removed by Filter'] ?? 0).toBe(0);
  });
});
