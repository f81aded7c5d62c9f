import { describe, expect, it } from '@jest/globals';
import {
  judgeAutovacuum,
  judgeCollation,
  judgeConnections,
  judgeDurability,
  judgePartitions,
  judgePostgresVersion,
  judgeWritable,
  type PostgresFacts,
} from './database-findings.ts';
import { bytesText, durationText } from './finding.ts';
import { judgeClock, judgeDisk, judgeNode } from './machine-findings.ts';
import {
  type InactiveSlot,
  judgePreparedTransactions,
  judgeSlots,
  type PreparedTransaction,
} from './orphan-findings.ts';
import { judgeOutcomes } from './outcome-findings.ts';
import { judgeLocks, judgeTransactions, type OpenTransaction } from './session-findings.ts';
import { newId } from '@posthorn/kernel';
import { judgeEditors, judgeLimits } from './workspace-findings.ts';
import { judgeBacklog, judgeLeases, judgeScheduler, judgeSenders, MAX_DUE_COUNTED } from './work-findings.ts';
import {
  judgeEviction,
  judgePersistence,
  judgeRedisChanges,
  judgeRedisMemory,
  judgeRedisRole,
  judgeRedisVersion,
} from './redis-findings.ts';

function connectedTo(connections: number): Pick<PostgresFacts, 'connectionLimits'> {
  return { connectionLimits: [{ of: 'server', connections, maximum: 100 }] };
}

const SERVER: PostgresFacts = {
  versionNumber: 180_004,
  version: '18.4',
  synchronousCommit: 'on',
  fsync: 'on',
  fullPageWrites: 'on',
  autovacuum: 'on',
  autovacuumNaptimeSeconds: 5,
  ...connectedTo(10),
  databaseBytes: 1,
  name: 'posthorn',
  collationVersion: '2.36',
  actualCollationVersion: '2.36',
  keepsSettings: true,
  isStandby: false,
  isReplayPaused: false,
  readOnlyByDefault: 'off',
  awaitingStandby: 0,
};
const OUTBOX = {
  options: ['fillfactor=70', 'autovacuum_vacuum_scale_factor=0.01', 'autovacuum_vacuum_cost_delay=0'],
  deadRows: 0,
  liveRows: 0,
};
const SESSION: OpenTransaction = {
  pid: 4242,
  role: 'ada',
  applicationName: 'psql',
  openSeconds: 300,
  isIdle: false,
  lockedTables: [],
  waiters: 0,
};
const PREPARED: PreparedTransaction = {
  quotedId: "'transfer 7'",
  role: 'ada',
  database: 'posthorn',
  openSeconds: 300,
  lockedTables: [],
  waiters: 0,
};
const SLOT: InactiveSlot = {
  name: 'standby',
  retainedBytes: 3 * 1024 ** 3,
  exceedsMaxWalSize: false,
  snapshotAge: 0,
};
const DUE = { backlog: [], overdueSeconds: 0, leasedAndExpired: 0 };
const GIB = 1024 ** 3;

describe('The doctor assesses', () => {
  it.each([
    ['22.19.0', 'good'],
    ['24.1.0', 'good'],
    ['22.18.9', 'fault'],
    ['20.99.0', 'fault'],
  ])('Node %s: %s', (version, kind) => expect(judgeNode(version).kind).toBe(kind));

  it.each([
    [0, 1, 'good', 'agree to 1 s'],
    [900, 1, 'good', 'agree to 1 s'],
    [2_500, 4_000, 'good', 'agree to 1 s'],
    [2_500, 0, 'advice', 'Redis is 2.5 s ahead of this machine'],
    [-40_000, 0, 'fault', 'Redis is 40.0 s behind this machine'],
  ])('a clock that is %d ms away, asked in %d ms: %s', (offsetMs, roundTripMs, kind, found) => {
    expect(judgeClock('Redis', offsetMs, roundTripMs)).toMatchObject({
      kind,
      found: expect.stringContaining(found),
    });
  });

  it.each([
    [50, 100, 'good'],
    [5, 100, 'advice'],
    [0.5, 1, 'advice'],
    [1, 100, 'fault'],
    [0, 0, 'fault'],
  ])('a disk of which %d of %d GiB are free: %s', (free, total, kind) =>
    expect(judgeDisk(free * GIB, total * GIB).kind).toBe(kind),
  );

  it.each([
    [{}, judgePostgresVersion, 'good'],
    [{ versionNumber: 140_020 }, judgePostgresVersion, 'fault'],
    [{}, judgeDurability, 'good'],
    [{ synchronousCommit: 'off' }, judgeDurability, 'fault'],
    [{ synchronousCommit: 'remote_apply' }, judgeDurability, 'good'],
    [{ fsync: 'off' }, judgeDurability, 'fault'],
    [{}, judgeWritable, 'good'],
    [{ isStandby: true }, judgeWritable, 'fault'],
    [{ readOnlyByDefault: 'on' }, judgeWritable, 'fault'],
    [{ awaitingStandby: 1 }, judgeWritable, 'fault'],
    [{}, judgeCollation, 'good'],
    [{ collationVersion: '2.31' }, judgeCollation, 'fault'],
    [{ collationVersion: null, actualCollationVersion: null }, judgeCollation, 'good'],
    [{ keepsSettings: false }, judgeConnections, 'fault'],
    [connectedTo(79), judgeConnections, 'good'],
    [connectedTo(80), judgeConnections, 'advice'],
  ])('a server with %j by %p: %s', (change, judge, kind) =>
    expect(judge({ ...SERVER, ...change }).kind).toBe(kind),
  );

  it('a standby: what to do depends on whether it waits where it was restored to', () => {
    const standby = { ...SERVER, isStandby: true };
    expect(judgeWritable(standby).mend).toMatch(/^point DATABASE_URL at the primary/);
    expect(judgeWritable({ ...standby, isReplayPaused: true })).toMatchObject({
      kind: 'fault',
      found: expect.stringContaining('its replay is paused, as after a restore to a point in time'),
      mend: expect.stringContaining('SELECT pg_wal_replay_resume(), then `posthorn restored`'),
    });
  });

  it.each([
    [
      { of: 'database', connections: 10, maximum: 20 },
      '10 of 20 connections that this database may have are in use',
    ],
    [{ of: 'role', connections: 7, maximum: 10 }, '7 of 10 connections that this role may have are in use'],
    [{ of: 'role', connections: 7, maximum: null }, '10 of 100 connections are in use'],
  ] as const)('of several limits of connections, the nearest counts: %j', (limit, found) =>
    expect(
      judgeConnections({ ...SERVER, connectionLimits: [...SERVER.connectionLimits, limit] }),
    ).toMatchObject({ found }),
  );

  it('a limit of the role that is near is raised on the role', () =>
    expect(
      judgeConnections({ ...SERVER, connectionLimits: [{ of: 'role', connections: 8, maximum: 10 }] }).mend,
    ).toContain('ALTER ROLE … CONNECTION LIMIT'));

  it.each([
    [{}, {}, 'good'],
    [{ autovacuum: 'off' }, {}, 'fault'],
    [{ autovacuumNaptimeSeconds: 60 }, {}, 'advice'],
    [{}, { options: [] }, 'advice'],
    [{}, { options: [...OUTBOX.options, 'autovacuum_enabled=false'] }, 'fault'],
    [{}, { deadRows: 300_000, liveRows: 10 }, 'advice'],
    [{}, { deadRows: 300_000, liveRows: 100_000 }, 'good'],
  ])('how the outbox is vacuumed with %j and %j: %s', (server, outbox, kind) =>
    expect(judgeAutovacuum({ ...SERVER, ...server }, { ...OUTBOX, ...outbox }).kind).toBe(kind),
  );

  it('partitions that are missing now or soon', () => {
    expect(judgePartitions({ thisMonth: [], nextMonth: [] }).kind).toBe('good');
    expect(judgePartitions({ thisMonth: ['a'], nextMonth: ['b'] }).found).toContain(
      'of this month are missing: a',
    );
    expect(judgePartitions({ thisMonth: [], nextMonth: ['b'] })).toMatchObject({ kind: 'fault' });
  });

  it.each([
    [59, 'good'],
    [61, 'advice'],
    [900, 'fault'],
  ])('a row that has been due for %d s: %s', (oldestDueSeconds, kind) =>
    expect(judgeBacklog({ ...DUE, backlog: [{ queue: 'email', due: 1, oldestDueSeconds }] }).kind).toBe(kind),
  );

  it.each([
    [[90, 0, 0], ['emails-wait']],
    [[0, 90, 0], ['events-wait']],
    [[0, 90, 90], ['events-wait']],
    [
      [90, 0, 90],
      ['emails-wait', 'events-wait'],
    ],
  ])('what is late, %j s in each queue, and names its runbook', (seconds, pages) => {
    const backlog = (['email', 'event', 'webhook'] as const).map((queue, at) => ({
      queue,
      due: at,
      oldestDueSeconds: seconds[at]!,
    }));
    const { found, mend } = judgeBacklog({ ...DUE, backlog });
    expect(found).toBe(
      'due emails: 0, events: 1, deliveries: 2; the oldest, in progress or not, apart from what is paused and deliveries to slow receivers, for 90 s',
    );
    expect(mend!.match(/(?<=runbooks\/)[a-z-]+/g)).toEqual(pages);
  });

  it('more due rows than are counted', () => {
    const backlog = [{ queue: 'email', due: MAX_DUE_COUNTED, oldestDueSeconds: 0 }] as const;
    expect(judgeBacklog({ ...DUE, backlog }).found).toContain('emails: 100000 or more;');
  });

  it.each<[Partial<OpenTransaction>, string, string]>([
    [{}, 'good', 'good'],
    [{ waiters: 1 }, 'fault', 'good'],
    [{ waiters: 1, openSeconds: 4.9 }, 'good', 'good'],
    [{ waiters: 1, openSeconds: null }, 'fault', 'good'],
    [{ lockedTables: ['emails'] }, 'fault', 'good'],
    [{ lockedTables: ['emails'], openSeconds: null }, 'fault', 'good'],
    [{ openSeconds: 3_600 }, 'good', 'advice'],
    [{ isIdle: true }, 'good', 'advice'],
    [{ isIdle: true, openSeconds: 119 }, 'good', 'good'],
  ])('a session with %j: its locks %s, its transaction %s', (change, locks, transactions) => {
    const sessions = [{ ...SESSION, ...change }];
    expect([judgeLocks(sessions).kind, judgeTransactions(sessions).kind]).toEqual([locks, transactions]);
  });

  it('whose locks keep others waiting, and how to end that', () => {
    const lockedTables = ['contacts', 'emails', 'identities', 'outbox'];
    expect(judgeLocks([{ ...SESSION, isIdle: true, lockedTables, waiters: 2 }])).toEqual({
      kind: 'fault',
      found:
        'statements fail because of the locks of pid 4242 (psql, role ada, idle in a transaction for 5 min, has locked contacts, emails, identities and 1 more, sessions that wait for it: 2)',
      mend: 'let it end its transaction, or end it, as its role or a superuser: SELECT pg_terminate_backend(4242)',
    });
    const many = Array.from({ length: 7 }, (_, pid) => ({
      ...SESSION,
      pid,
      applicationName: '',
      waiters: 1,
    }));
    expect(judgeLocks(many).found).toMatch(/pid 0 \(without an application name, .* and 2 more$/);
  });

  it.each<[Partial<PreparedTransaction>, string]>([
    [{}, 'fault'],
    [{ openSeconds: 119 }, 'good'],
    [{ openSeconds: 6, lockedTables: ['emails'] }, 'fault'],
    [{ openSeconds: 6, waiters: 1 }, 'fault'],
    [{ openSeconds: 4, waiters: 1 }, 'good'],
  ])('a prepared transaction with %j: %s', (change, kind) =>
    expect(judgePreparedTransactions([{ ...PREPARED, ...change }]).kind).toBe(kind),
  );

  it('which prepared transactions were left behind, and how to end them', () => {
    const other = {
      ...PREPARED,
      quotedId: "'other'",
      database: 'shop',
      lockedTables: ['emails'],
      waiters: 2,
    };
    expect(judgePreparedTransactions([PREPARED, other])).toEqual({
      kind: 'fault',
      found:
        "locks and dead rows are kept, and the feed of events stands still, because of the prepared transactions 'transfer 7' (role ada, database posthorn, prepared 5 min ago) and 'other' (role ada, database shop, prepared 5 min ago, has locked emails, sessions that wait for it: 2)",
      mend: "have their transaction manager end them, or end each in its database, as its role or a superuser: ROLLBACK PREPARED 'transfer 7'; ROLLBACK PREPARED 'other'",
    });
  });

  it.each<[Partial<InactiveSlot>, string]>([
    [{}, 'good'],
    [{ exceedsMaxWalSize: true }, 'advice'],
    [{ snapshotAge: 99_999 }, 'good'],
    [{ snapshotAge: 100_000 }, 'advice'],
  ])('a replication slot that nothing reads with %j: %s', (change, kind) =>
    expect(judgeSlots([{ ...SLOT, ...change }]).kind).toBe(kind),
  );

  it('which replication slots retain too much, and how to drop them', () => {
    const slots = Array.from({ length: 6 }, (_, at) => ({
      ...SLOT,
      name: `s${at}`,
      exceedsMaxWalSize: true,
      snapshotAge: at === 0 ? 0 : 7,
    }));
    const { found, mend } = judgeSlots(slots);
    expect(found).toMatch(
      /: s0 \(3.0 GiB of WAL\) and s1 \(3.0 GiB of WAL, dead rows of 7 trans.* and 1 more$/,
    );
    expect(mend).toContain("SELECT pg_drop_replication_slot('s0'), pg_drop_replication_slot('s1'), ");
  });

  it('whether a scheduler is running', () => {
    expect(judgeLeases(DUE).kind).toBe('good');
    expect(judgeLeases({ ...DUE, leasedAndExpired: 1 }).kind).toBe('fault');
    expect(judgeLeases({ ...DUE, overdueSeconds: 61 }).kind).toBe('fault');
    expect([0, 299, 300].map((seconds) => judgeScheduler(seconds).kind)).toEqual(['good', 'good', 'fault']);
  });

  it.each([
    [[], 'fault', 'no sender has reported'],
    [[[2, 2]], 'good', 'every sender can send'],
    [
      [[2, 1]],
      'advice',
      'refuses, or that cannot reach it: relay-0:25 (1 of 2; auth: 535 No); emails leave through',
    ],
    [[[2, 0]], 'fault', 'relay-0:25 (2 of 2; auth: 535 No); emails wait'],
    [
      [
        [2, 0],
        [2, 2],
      ],
      'advice',
      'relay-0:25 (2 of 2; auth: 535 No)',
    ],
  ] as [[number, number][], string, string][])(
    'relays whose senders, and those that can send, are %j: %s',
    (counts, kind, found) => {
      const relays = counts.map(([senders, up], at) => ({
        relay: `relay-${at}:25`,
        senders,
        up,
        reason: up < senders ? 'auth: 535 No' : null,
      }));
      expect(judgeSenders(relays)).toMatchObject({ kind, found: expect.stringContaining(found) });
    },
  );

  it.each([
    [{}, 0, 'good', 'of 0 attempts'],
    [{ sent: 90, suppressed: 500, delayed: 4, failed: 6 }, 0, 'good', 'of 100 attempts to send in the'],
    [{ sent: 9, bounced: 1, failed: 10 }, 0, 'good', '10 failed'],
    [{ sent: 9, bounced: 1, failed: 11, delayed: 40 }, 0, 'fault', 'most emails fail'],
    [{ sent: 2, delayed: 18 }, 0, 'good', '18 were deferred'],
    [{ sent: 19, delayed: 60, reply_lost: 20 }, 50, 'fault', 'the relay defers most emails: of 99 attempts'],
    [{ sent: 80, delayed: 20 }, 20, 'good', '20 were deferred, 20 of them because emails arrive too fast'],
    [{ sent: 179, delayed: 21 }, 21, 'advice', 'the relay throttles'],
    [{ sent: 1_000, delayed: 21 }, 21, 'good', 'of 1021 attempts'],
  ] as [Record<string, number>, number, string, string][])(
    'the outcomes %j, with %d replies about a rate: %s',
    (outcomes, tooFast, kind, found) => {
      const counted = Object.entries(outcomes).map(([label, count]) => ({ what: 'email', label, count }));
      const replies = { what: 'reply', label: 'rate_limited', count: tooFast };
      expect(judgeOutcomes([...counted, replies])).toMatchObject({
        kind,
        found: expect.stringContaining(found),
      });
    },
  );

  it('Redis by its INFO, also where fields are missing', () => {
    expect(judgeRedisVersion({ redis_version: '7.0.1' })).toMatchObject({
      kind: 'good',
      found: 'Redis 7.0.1',
    });
    expect(judgeRedisVersion({ redis_version: '7.2.4', valkey_version: '8.1.0' }).found).toBe('Valkey 8.1.0');
    expect(judgeRedisVersion({ redis_version: '6.2.0' }).kind).toBe('fault');
    expect(judgeEviction({ maxmemory_policy: 'noeviction' }).kind).toBe('good');
    expect(judgeEviction({ maxmemory_policy: 'volatile-lru' }).kind).toBe('fault');
    expect([judgeEviction({}).kind, judgePersistence({}).kind]).toEqual(['unknown', 'unknown']);
    expect(judgePersistence({ aof_enabled: '0' }).kind).toBe('advice');
    expect(judgeRedisMemory({ used_memory: '90', maxmemory: '100' }).kind).toBe('advice');
    expect(judgeRedisMemory({ used_memory: '90', maxmemory: '0' }).kind).toBe('good');
    const full = { used_memory: '101', maxmemory: '100' };
    expect(judgeRedisMemory({ ...full, maxmemory_policy: 'noeviction' }).kind).toBe('fault');
    expect(judgeRedisMemory({ ...full, maxmemory_policy: 'allkeys-lru' }).kind).toBe('advice');
    expect(judgeRedisChanges({ role: 'slave' }, 'READONLY You can’t')).toEqual(
      judgeRedisRole({ role: 'slave' }),
    );
    expect(
      [undefined, 'MISCONF Redis is', 'NOREPLICAS Not'].map((said) => judgeRedisChanges({}, said)),
    ).toMatchObject([
      { kind: 'good' },
      { kind: 'fault', mend: expect.stringContaining('room on its disk') },
      { kind: 'fault', mend: expect.stringContaining('replicas') },
    ]);
    expect(
      [
        'MISCONF Redis is configured to save RDB snapshots',
        'MISCONF Errors writing to the AOF file: No space',
      ].map((said) => judgeRedisChanges({}, said).mend),
    ).toEqual([expect.stringMatching('bgsave-error no'), expect.stringMatching('appendonly no')]);
    expect(judgeRedisChanges({}, 'CROSSSLOT Keys in request').mend).toMatch(/not a cluster/);
    expect(judgeRedisChanges({}, 'NEWS of tomorrow').found).toMatch(
      /\(NEWS of tomorrow\): emails are accepted/,
    );
    expect([judgeRedisRole({ role: 'master' }).kind, judgeRedisRole({ role: 'slave' }).kind]).toEqual([
      ...['good', 'fault'],
    ]);
  });

  it('whether editors are told of what fails', () => {
    const first = newId('wrk', 0);
    expect([
      judgeEditors(true, { count: 0, first: null }),
      judgeEditors(true, { count: 3, first }),
      judgeEditors(false, { count: 3, first }),
    ]).toEqual([
      { kind: 'good', found: expect.any(String) },
      {
        kind: 'advice',
        found: expect.stringMatching(`: 3, the first is ${first}$`),
        mend: expect.any(String),
      },
      { kind: 'advice', found: expect.stringMatching(/^without SYSTEM_FROM/), mend: expect.any(String) },
    ]);
  });

  it('which workspaces are near their monthly limits', () => {
    const of = (used: number) => ({ workspaceId: newId('wrk', used), used, limit: 1_000 });
    expect([judgeLimits([]), judgeLimits([of(800), of(1)])]).toMatchObject([
      { kind: 'good' },
      { kind: 'good' },
    ]);
    const [most, near, far] = [of(1_200), of(801), of(800)];
    expect(judgeLimits([most, near, far])).toEqual({
      kind: 'advice',
      found: expect.stringContaining(
        `used by ${most.workspaceId} (1200 of 1000 emails) and ${near.workspaceId} (801 of 1000 emails);`,
      ),
      mend: expect.stringContaining('--monthly-limit'),
    });
  });

  it('formats amounts for people', () => {
    expect([0, 90, 300, 7_200, 500_000].map(durationText)).toEqual(['0 s', '90 s', '5 min', '2 h', '6 days']);
    expect([0, 512, 1_536, 5 * GIB, 100 * GIB].map(bytesText)).toEqual([
      ...['0 bytes', '512 bytes', '1.5 KiB', '5.0 GiB', '100 GiB'],
    ]);
  });
});
