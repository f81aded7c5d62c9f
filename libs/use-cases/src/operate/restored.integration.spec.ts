import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import {
  AuditLogStore,
  type ClaimedEmail,
  type Database,
  EraStore,
  waitForDatabase,
  openDatabase,
  OutboxStore,
  PausedLaneStore,
  IdentityStore,
  WebhookStore,
  WorkspaceStore,
} from '@posthorn/database';
import { bulkLane, operator, POSTHORN } from '@posthorn/domain';
import { newId, sleep, SYSTEM_WORKSPACE_ID, uuidOf, type WorkspaceId } from '@posthorn/kernel';
import {
  copyTestDatabase,
  createTestDatabase,
  PATIENT_LIMITS,
  PrivatePostgres,
  runToEnd,
  type TestDatabase,
} from '@posthorn/testing';
import { addIdentity } from './add-identity.ts';
import { createWorkspace } from './create-workspace.ts';
import { listPauses, pauseSending, resumeSending } from './pause-sending.ts';
import { resumeEverything } from './resume-everything.ts';
import { scheduleEmails } from './schedule-emails.fixture.ts';
import { findRestoration } from './sending-status.ts';

const MINUTE_MS = 60_000;
const DAY_MS = 24 * 60 * MINUTE_MS;

let original: TestDatabase;
let copy: TestDatabase | undefined;
let opened: Database[];
let shop: WorkspaceId;

beforeEach(async () => {
  opened = [];
  copy = undefined;
  original = await createTestDatabase();
  const database = await open(original.url);
  shop = (await createWorkspace(new WorkspaceStore(database), operator('test'), 'The shop', null)).id;
  await addIdentity(new IdentityStore(database), shop, POSTHORN, { domain: 'example.com', verified: true });
});
afterEach(async () => {
  await closeAll();
  await copy?.drop();
  await original.drop();
});

async function open(url: string): Promise<Database> {
  const { connectMs } = PATIENT_LIMITS;
  const database = openDatabase({ url, poolSize: 2, applicationName: 'test', limits: { connectMs } });
  opened.push(database);
  await waitForDatabase(database);
  return database;
}

async function closeAll(): Promise<void> {
  for (const database of opened.splice(0)) await database.close();
}

/** Copies the database, as restoring a dump does, and opens the copy. */
async function restore(): Promise<Database> {
  await closeAll();
  copy = await copyTestDatabase(original);
  const restored = await open(copy.url);
  // What is scheduled as due a millisecond ago is then due since the restore, not before it.
  await sleep(10);
  return restored;
}

/** @returns the ids in the database of emails that are due after this time from now */
function schedule(database: Database, count: number, dueInMs: number): Promise<string[]> {
  return scheduleEmails(database, { workspaceId: shop, laneId: bulkLane(shop), dueInMs, count });
}

/** Does what a sender and a scheduler do. */
async function claim(database: Database): Promise<ClaimedEmail[]> {
  const outbox = new OutboxStore(database);
  await outbox.makeReady(5_000);
  return outbox.claimEmails([{ laneId: bulkLane(shop), maxRows: 1_000 }], 2 ** 40, MINUTE_MS);
}

async function ask(database: Database, sql: string, values: unknown[] = []): Promise<object[]> {
  return (await database.pool.query<object>(sql, values)).rows;
}

const ada = operator('ada');
const OLDEST = { limit: 10, sort: 'createdAt.asc' } as const;
const lanes = (database: Database): PausedLaneStore => new PausedLaneStore(database);
const resume = (database: Database, failBefore?: string): ReturnType<typeof resumeEverything> =>
  resumeEverything(new EraStore(database), lanes(database), ada, { failBefore });
const fromNow = (ms: number): string => new Date(Date.now() + ms).toISOString();

describe('A database that was restored', () => {
  it('is paused from its first connection on: nothing is claimed, but emails are accepted', async () => {
    await schedule(opened[0]!, 3, -MINUTE_MS);
    const restored = await restore();
    expect(await claim(restored)).toEqual([]);
    expect(await new OutboxStore(restored).lanesWithReadyRows()).toEqual([]);
    expect(await listPauses(lanes(restored))).toMatchObject([
      { whose: 'emails', reason: 'The database was restored' },
      { whose: 'webhooks', reason: 'The database was restored' },
    ]);
    await schedule(restored, 1, -1);
    expect(await ask(restored, 'SELECT FROM outbox')).toHaveLength(4);
    await closeAll();
    expect(await claim(await open(original.url))).toHaveLength(3);
  });

  it.each(['read committed', 'serializable'])(
    'is so once, however many connect at once, and keeps the reason that an operator had, where transactions are %s by default',
    async (isolation) => {
      await pauseSending(lanes(opened[0]!), 'emails', ada, 'The relay moves');
      await closeAll();
      copy = await copyTestDatabase(original);
      const url = new URL(copy.url);
      url.searchParams.set(
        'options',
        `-c default_transaction_isolation=${isolation.replace(' ', String.raw`\ `)}`,
      );
      const [database] = await Promise.all(Array.from({ length: 5 }, () => open(url.href)));
      expect(await ask(database!, 'SELECT era FROM event_eras')).toHaveLength(2);
      const [pause] = await listPauses(lanes(database!));
      expect(pause!.reason).toBe('The database was restored; before that: The relay moves');
    },
  );

  it('counts emails that were due at the dump, and that fell due since', async () => {
    const database = opened[0]!;
    await schedule(database, 2, -10 * MINUTE_MS);
    await schedule(database, 3, -MINUTE_MS);
    await schedule(database, 4, DAY_MS);
    await new EraStore(database).noteAlive();
    await ask(database, `UPDATE event_eras SET alive_at = now() - interval '5 minutes'`);
    const eras = new EraStore(await restore());
    const restoration = await findRestoration(eras);
    expect(restoration!.counted).toEqual({
      queues: [
        { queue: 'email', dueBefore: 2, dueSince: 3, later: 4 },
        { queue: 'event', dueBefore: 0, dueSince: 0, later: 0 },
        { queue: 'webhook', dueBefore: 0, dueSince: 0, later: 0 },
      ],
      areAll: true,
    });
    expect(await eras.countDueSince(restoration!.dumpedAt, 8)).toMatchObject({ areAll: false });
    const minutes = (restoration!.heldSince.getTime() - restoration!.dumpedAt.getTime()) / MINUTE_MS;
    expect(minutes).toBeGreaterThan(4.9);
  });

  it('counts from the first backup when it is restored again before it was resumed', async () => {
    await ask(opened[0]!, `UPDATE event_eras SET alive_at = now() - interval '1 hour'`);
    const first = await restore();
    const { dumpedAt } = (await findRestoration(new EraStore(first)))!;
    await new EraStore(first).noteAlive();
    await new EraStore(first).beginByHand(ada);
    expect(await findRestoration(new EraStore(first))).toMatchObject({ dumpedAt });
    expect(await ask(first, 'SELECT era FROM event_eras')).toHaveLength(3);
  });

  it('fails the emails that an operator selects, with a reason and an event, in groups, and resumes the rest', async () => {
    const database = opened[0]!;
    const old = await schedule(database, 1_200, -10 * MINUTE_MS);
    const webhook = {
      id: newId('wh', Date.now()),
      url: 'https://a.example',
      events: ['EMAIL_FAILED'] as const,
    };
    await new WebhookStore(database).create(shop, operator('test'), {
      ...webhook,
      sealedToken: Buffer.alloc(40),
      status: 'ACTIVE',
    });
    // Some were being sent when the dump was made.
    expect(await claim(database)).toHaveLength(1_000);
    await ask(database, `UPDATE outbox SET lease_until = now() + interval '2 s' WHERE state = 'taken'`);
    const young = await schedule(database, 2, -MINUTE_MS);
    const later = await schedule(database, 2, DAY_MS);
    const restored = await restore();

    const groups: number[] = [];
    const done = await resumeEverything(new EraStore(restored), lanes(restored), ada, {
      failBefore: fromNow(-5 * MINUTE_MS),
      onProgress: (failed) => groups.push(failed),
    });
    expect(done.resumed).toHaveLength(2);
    expect(done).toMatchObject({ wasRestored: true, failed: 1_200, doubtful: 2 });
    expect(groups.length).toBeGreaterThan(2);
    const failed = await ask(
      restored,
      `SELECT e.id FROM emails e JOIN email_events v ON v.email_id = e.id
       WHERE  e.status = 'FAILED' AND v.kind = 'FAILED' AND v.detail ->> 'reason' = 'restored' AND v.duplicate_possible
       AND    v.detail ->> 'error' LIKE 'the system was restored from a backup, and this email was due before %'
       ORDER BY e.id`,
    );
    expect(failed).toEqual([...old].sort().map((id) => ({ id })));
    expect(await ask(restored, `SELECT FROM events WHERE type = 'EMAIL_FAILED'`)).toHaveLength(1_200);
    expect(await listPauses(lanes(restored))).toEqual([]);
    expect((await claim(restored)).map(({ id }) => uuidOf(id)).sort()).toEqual([...young].sort());
    expect(await ask(restored, `SELECT subject_id AS id FROM outbox WHERE state = 'waiting'`)).toEqual(
      expect.arrayContaining(later.map((id) => ({ id }))),
    );
    expect(await findRestoration(new EraStore(restored))).toBeNull();
  });

  it('says of an email that it may have been sent only if it was due before the restore', async () => {
    const [old] = await schedule(opened[0]!, 1, -2_000);
    const restored = await restore();
    const [young] = await schedule(restored, 1, -1);
    await sleep(50);
    expect(await resume(restored, fromNow(0))).toMatchObject({ failed: 2 });
    expect(
      await ask(
        restored,
        'SELECT email_id AS id, duplicate_possible AS "mayBeSent" FROM email_events ORDER BY 2',
      ),
    ).toEqual([
      { id: young, mayBeSent: false },
      { id: old, mayBeSent: true },
    ]);
  });

  it('marks emails that were due meanwhile as possible duplicates, but not those that fall due later', async () => {
    const [due] = await schedule(opened[0]!, 1, -MINUTE_MS);
    const restored = await restore();
    await schedule(restored, 1, -1);
    expect(await resume(restored)).toMatchObject({ failed: 0, doubtful: 1 });
    expect(await claim(restored)).toHaveLength(2);
    expect(
      await ask(restored, 'SELECT email_id AS id, duplicate_possible AS twice FROM email_events'),
    ).toEqual([{ id: due, twice: true }]);
  });

  it.each([
    ['sent', () => undefined],
    ['given up', () => fromNow(0)],
  ])(
    'marks what was due before the last of several restores when it is %s: the backup may be of a database that was resumed later',
    async (_what, failBefore) => {
      const backup = await restore();
      const [due] = await schedule(backup, 1, -1);
      // That backup is restored in its turn.
      await new EraStore(backup).beginByHand(ada);
      expect(await resume(backup, failBefore())).toMatchObject({ wasRestored: true });
      await claim(backup);
      expect(
        await ask(backup, 'SELECT email_id AS id, duplicate_possible AS twice FROM email_events'),
      ).toEqual([{ id: due, twice: true }]);
    },
  );

  it('marks many emails, in one lane or in several, also when it was interrupted and run again', async () => {
    await schedule(opened[0]!, 1_200, -MINUTE_MS);
    await ask(opened[0]!, `UPDATE outbox SET state = 'ready'`);
    await schedule(opened[0]!, 600, -MINUTE_MS);
    await ask(
      opened[0]!,
      `UPDATE outbox SET lane_id = lane_id || right(subject_id::text, 1) WHERE state = 'ready'`,
    );
    const restored = await restore();
    // Ready and recent, before those that are old.
    await schedule(restored, 700, -1);
    await ask(
      restored,
      `UPDATE outbox SET state = 'ready', lane_id = '0' WHERE due_at > (SELECT max(began_at) FROM event_eras)`,
    );
    const breaksOff = new EraStore(restored);
    let groups = 0;
    breaksOff.markDoubtful = (...group) => {
      groups += 1;
      if (groups > 6) return Promise.reject(new Error('broken off'));
      return EraStore.prototype.markDoubtful.apply(breaksOff, group);
    };
    await expect(resumeEverything(breaksOff, lanes(restored), ada)).rejects.toThrow('broken off');
    const marked = (await ask(restored, 'SELECT FROM outbox WHERE lease_until IS NOT NULL')).length;
    expect(marked).toBeGreaterThan(600);
    expect(await resume(restored)).toMatchObject({ doubtful: 1_800 });
    expect(await ask(restored, 'SELECT FROM outbox WHERE lease_until IS NOT NULL')).toHaveLength(1_800);
  });

  it('is resumed on a terminal with each line of the output on its own', async () => {
    await schedule(opened[0]!, 1, -MINUTE_MS);
    await restore();
    const onTerminal = '--import=data:text/javascript,process.stderr.isTTY=true';
    const { stdout, stderr } = await runToEnd(
      [onTerminal, 'tools/posthorn.mjs', 'resume', '--fail-before', fromNow(-1)],
      { DATABASE_URL: copy!.url },
    );
    expect(stdout).toMatch(
      /^Email sending is resumed\..*\nWebhook delivery is resumed\..*\n1 emails were given up/,
    );
    expect(stderr).toMatch(/^(?:.*\n)*$/);
  });

  it('records that emails are given up before the first one is, so that the audit log has an interrupted run too', async () => {
    const [database] = opened;
    await schedule(database!, 600, -MINUTE_MS);
    await pauseSending(lanes(database!), 'emails', ada, 'x');
    const failBefore = fromNow(-1);
    const breaksOff = new EraStore(database!);
    breaksOff.failDueBefore = async (...group) => {
      const done = await EraStore.prototype.failDueBefore.apply(breaksOff, group);
      if (done.processed > 0) throw new Error('broken off');
      return done;
    };
    const interrupted = resumeEverything(breaksOff, lanes(database!), ada, { failBefore });
    await expect(interrupted).rejects.toThrow('broken off');
    expect(await resume(database!, failBefore)).toMatchObject({ failed: 100 });
    const { items } = await new AuditLogStore(database!).list(SYSTEM_WORKSPACE_ID, OLDEST);
    const resumed = { action: 'sending.resumed', actor: ada };
    expect(items.slice(1)).toMatchObject([
      { ...resumed, detail: { failBefore, begun: true } },
      { ...resumed, detail: { failBefore, begun: true } },
      { ...resumed, detail: { failBefore, failed: 100, queues: ['email'] } },
    ]);
  });

  it('records what came of giving up emails also where somebody else has resumed everything meanwhile', async () => {
    const [database] = opened;
    await schedule(database!, 2, -MINUTE_MS);
    await pauseSending(lanes(database!), 'emails', ada, 'x');
    const failBefore = fromNow(-1);
    const overtaken = new EraStore(database!);
    overtaken.areLeftBefore = async () => {
      await resume(database!);
      return false;
    };
    expect(await resumeEverything(overtaken, lanes(database!), ada, { failBefore })).toMatchObject({
      resumed: [],
      failed: 2,
    });
    const { items } = await new AuditLogStore(database!).list(SYSTEM_WORKSPACE_ID, OLDEST);
    const details = items.map(({ detail }) => detail).slice(1);
    // Entries of the same millisecond are in no order.
    expect(details).toEqual(
      expect.arrayContaining([
        { failBefore, begun: true },
        { failed: 0, doubtful: 0, queues: ['email'] },
        { failBefore, failed: 2, doubtful: 0, queues: [] },
      ]),
    );
    expect(details).toHaveLength(3);
  });

  it('ends no pause that somebody begins while emails are given up, but one from before the clock was set back', async () => {
    const [database] = opened;
    await pauseSending(lanes(database!), 'emails', ada, 'x');
    await ask(database!, `UPDATE paused_lanes SET paused_at = now() + interval '1 hour'`);
    const interrupted = new EraStore(database!);
    interrupted.areLeftBefore = async () => {
      await sleep(5);
      await pauseSending(lanes(database!), 'webhooks', ada, 'A receiver is flooded');
      return false;
    };
    expect(
      await resumeEverything(interrupted, lanes(database!), ada, { failBefore: fromNow(-1) }),
    ).toMatchObject({ resumed: [{ whose: 'emails', reason: 'x' }] });
    expect(await listPauses(lanes(database!))).toMatchObject([{ whose: 'webhooks' }]);
    await resume(database!);
    expect(await listPauses(lanes(database!))).toEqual([]);
  });

  it('reads each ready email once in a pass, whether it is marked or not', async () => {
    await schedule(opened[0]!, 25, -MINUTE_MS);
    await ask(opened[0]!, `UPDATE outbox SET state = 'ready'`);
    const eras = new EraStore(await restore());
    const { heldSince } = await eras.read();
    const pass = async (): Promise<number[]> => {
      const groups: number[] = [];
      for (let group = await eras.markDoubtful(heldSince!, 10); ;) {
        groups.push(group.processed);
        if (group.next === undefined) return groups;
        group = await eras.markDoubtful(heldSince!, 10, group.next);
      }
    };
    expect(await pass()).toEqual([0, 10, 10, 5, 0]);
    expect(await pass()).toEqual([0, 0, 0, 0, 0]);
  });

  it('also fails emails whose lease ends while it looks whether any are left', async () => {
    await schedule(opened[0]!, 3, -MINUTE_MS);
    expect(await claim(opened[0]!)).toHaveLength(3);
    const restored = await restore();
    const eras = new EraStore(restored);
    eras.areLeftBefore = async (moment) => {
      await ask(restored, `UPDATE outbox SET lease_until = now() - interval '1 s'`);
      return EraStore.prototype.areLeftBefore.call(eras, moment);
    };
    const done = await resumeEverything(eras, lanes(restored), ada, { failBefore: fromNow(-1_000) });
    expect(done).toMatchObject({ failed: 3 });
    expect(await ask(restored, 'SELECT FROM outbox')).toEqual([]);
  });

  it.each([
    ['a future time', () => fromNow(DAY_MS), 400, '`failBefore` is in the future'],
    ['no time', () => 'yesterday', 400, '`failBefore` is not a time'],
    ['a day', () => '2026-01-01', 400, '`failBefore` is not a time'],
  ])('fails no email for %s', async (_case, time, statusCode, message) => {
    await schedule(opened[0]!, 1, -MINUTE_MS);
    const restored = await restore();
    await expect(resume(restored, time())).rejects.toMatchObject({
      statusCode,
      message: expect.stringContaining(message),
    });
    expect(await listPauses(lanes(restored))).toHaveLength(2);
  });

  it('is not paused when it has no workspace yet', async () => {
    await ask(opened[0]!, 'TRUNCATE workspaces CASCADE');
    expect(await listPauses(lanes(await restore()))).toEqual([]);
  });
});

describe('A database that was not restored', () => {
  it('is not paused, whatever restarts', async () => {
    const postgres = await PrivatePostgres.start();
    try {
      const first = await open(postgres.url);
      await createWorkspace(new WorkspaceStore(first), operator('test'), 'The shop', null);
      await closeAll();
      await postgres.crash();
      await postgres.restart();
      const second = await open(postgres.url);
      await ask(second, 'VACUUM FULL event_eras');
      await closeAll();
      expect(await listPauses(lanes(await open(postgres.url)))).toEqual([]);
      await closeAll();
    } finally {
      await postgres.close();
    }
  });

  it('is paused when an operator says that it was restored', async () => {
    const [database] = opened;
    await new EraStore(database!).beginByHand(ada);
    expect(await listPauses(lanes(database!))).toHaveLength(2);
    expect(await findRestoration(new EraStore(database!))).not.toBeNull();
    expect(await resume(database!)).toMatchObject({ wasRestored: true });
    expect(await resume(database!)).toMatchObject({ resumed: [] });
    const { items } = await new AuditLogStore(database!).list(SYSTEM_WORKSPACE_ID, OLDEST);
    expect(items).toMatchObject([
      { action: 'database.restored', actor: ada },
      {
        action: 'sending.resumed',
        actor: ada,
        detail: { queues: ['email', 'event', 'webhook'], failed: 0, doubtful: 0 },
      },
    ]);
  });

  it('stays paused if that is found at the moment in which somebody resumes what was paused before', async () => {
    const [database] = opened;
    await pauseSending(lanes(database!), 'emails', ada, 'The relay moves');
    const client = await database!.pool.connect();
    // The only other connection: it waits for however long this process is suspended before the COMMIT.
    await ask(database!, `SET lock_timeout = '1min'; SET statement_timeout = '1min'`);
    await client.query(
      'BEGIN; SET LOCAL idle_in_transaction_session_timeout = 0; SELECT begin_era_by_hand()',
    );
    const resuming = resumeSending(lanes(database!), 'emails', ada, { evenIfRestored: false });
    const waiting = `SELECT FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND datname = current_database()`;
    let settled = false;
    void resuming.catch(() => undefined).finally(() => (settled = true));
    while (!settled && (await client.query(waiting)).rows.length === 0) {
      await sleep(20);
      await client.query('SELECT pg_stat_clear_snapshot()');
    }
    await client.query('COMMIT');
    client.release();
    await expect(resuming).rejects.toMatchObject({ statusCode: 409 });
    expect(await listPauses(lanes(database!))).toHaveLength(2);
  });

  it('fails no email while emails may be sent, and shows another reason when they are paused by hand', async () => {
    const [database] = opened;
    const [id] = await schedule(database!, 1, -MINUTE_MS);
    await expect(resume(database!, fromNow(-1))).rejects.toMatchObject({ statusCode: 409 });
    await pauseSending(lanes(database!), 'emails', ada, 'x');
    expect(await resume(database!, fromNow(-1))).toMatchObject({ failed: 1, wasRestored: false });
    expect(await ask(database!, `SELECT detail ->> 'reason' AS reason FROM email_events`)).toEqual([
      { reason: 'held_back' },
    ]);
    expect(await ask(database!, 'SELECT status FROM emails WHERE id = $1', [id])).toEqual([
      { status: 'FAILED' },
    ]);
  });
});
