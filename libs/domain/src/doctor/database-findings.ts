import { advice, bytesText, fault, type Finding, good, pointAtPrimary, durationText } from './finding.ts';

/** Settings and state of the Postgres server. */
export interface PostgresFacts {
  /** As `server_version_num`: 150004. */
  readonly versionNumber: number;
  readonly version: string;
  readonly synchronousCommit: string;
  readonly fsync: string;
  readonly fullPageWrites: string;
  readonly autovacuum: string;
  readonly autovacuumNaptimeSeconds: number;
  /** Whether the startup parameters of a connection reached the server; a pooler may drop them. */
  readonly keepsSettings: boolean;
  readonly isStandby: boolean;
  /** Whether a standby waits: somebody has told it to, or it has reached the point in time to which it was restored. */
  readonly isReplayPaused: boolean;
  /** `on` or `off`, for a new connection. */
  readonly readOnlyByDefault: string;
  /** How many transactions have been waiting for a synchronous standby for several seconds. */
  readonly awaitingStandby: number;
  readonly connectionLimits: readonly ConnectionLimit[];
  readonly databaseBytes: number;
  /** The name of the database. */
  readonly name: string;
  /** The version of the collation with which the indexes were built; null if it has none, such as C. */
  readonly collationVersion: string | null;
  /** The version of the same collation in the operating system of the server, or its ICU library. */
  readonly actualCollationVersion: string | null;
}

/** How many connections the server, this database or this role has, and may have. */
interface ConnectionLimit {
  readonly of: 'server' | 'database' | 'role';
  readonly connections: number;
  /** Null: as many as the server. */
  readonly maximum: number | null;
}

/** What sets each limit, and how it is raised. */
const LIMIT_TEXTS: Readonly<Record<ConnectionLimit['of'], { has: string; mend: string }>> = {
  server: { has: '', mend: 'raise max_connections' },
  database: {
    has: ' that this database may have',
    mend: 'raise its limit (ALTER DATABASE … CONNECTION LIMIT)',
  },
  role: { has: ' that this role may have', mend: 'raise its limit (ALTER ROLE … CONNECTION LIMIT)' },
};

const MIN_VERSION = 150_000;
const MAX_NAPTIME_SECONDS = 15;
const FULL_SHARE = 0.8;

/** Whether this release of Postgres is supported. */
export function judgePostgresVersion({ versionNumber, version }: PostgresFacts): Finding {
  return versionNumber >= MIN_VERSION
    ? good(`Postgres ${version}`)
    : fault(`Postgres ${version}`, 'upgrade to Postgres 15 or newer');
}

/** Whether committed transactions survive a crash. */
export function judgeDurability(facts: PostgresFacts): Finding {
  const off = Object.entries({
    synchronous_commit: facts.synchronousCommit,
    fsync: facts.fsync,
    full_page_writes: facts.fullPageWrites,
  }).flatMap(([name, value]) => (value === 'off' ? [name] : []));
  if (off.length === 0) return good('what Postgres confirms is on disk');
  return fault(
    `${off.join(' and ')} ${off.length === 1 ? 'is' : 'are'} off: accepted emails can be lost in a crash`,
    `set ${off.map((name) => `${name} = on`).join(', ')}`,
  );
}

/** Whether the server accepts writes. A read-only one answers queries, so after a failover everything seems fine. */
export function judgeWritable(facts: PostgresFacts): Finding {
  const { isStandby, isReplayPaused, readOnlyByDefault, awaitingStandby } = facts;
  const nothing = 'nothing can be accepted, sent or recorded';
  if (isStandby && isReplayPaused)
    return fault(
      `Postgres accepts no writes: its replay is paused, as after a restore to a point in time: ${nothing}`,
      `if it was restored, stop every app and call SELECT pg_wal_replay_resume(), then \`posthorn restored\`; if it is a standby, ${pointAtPrimary('DATABASE_URL')}`,
    );
  if (isStandby)
    return fault(`Postgres is a standby and accepts no writes: ${nothing}`, pointAtPrimary('DATABASE_URL'));
  if (readOnlyByDefault === 'on')
    return fault(
      `Postgres accepts no writes (default_transaction_read_only is on): ${nothing}`,
      'see why it was set, such as a disk that was nearly full, then set it to off for the server, the database and the role',
    );
  if (awaitingStandby > 0)
    return fault(
      `Postgres confirms no change while its synchronous standby is away; waiting for it: ${awaitingStandby}`,
      'bring the standby back, or name another one in synchronous_standby_names; without any, a failover can lose emails',
    );
  return good('Postgres takes changes');
}

/** Whether the server still sorts texts as its indexes do: after an upgrade of its operating system, a lookup may not find what is in an index. */
export function judgeCollation(facts: PostgresFacts): Finding {
  const { name, collationVersion, actualCollationVersion } = facts;
  if (collationVersion === actualCollationVersion) return good('Postgres sorts texts as its indexes do');
  return fault(
    `the indexes were built with version ${collationVersion} of the collation, and Postgres now sorts with ${actualCollationVersion}: an idempotency key may not be found, so that an email is sent twice`,
    `REINDEX DATABASE "${name}"; ALTER DATABASE "${name}" REFRESH COLLATION VERSION`,
  );
}

/** Whether enough connections are free, and whether they keep their startup parameters. */
export function judgeConnections({ connectionLimits, keepsSettings }: PostgresFacts): Finding {
  if (!keepsSettings)
    return fault(
      'connections lose their settings on the way: a pooler such as PgBouncer is in front of Postgres; apps do not start',
      'point DATABASE_URL at Postgres itself',
    );
  const limits = connectionLimits.flatMap(({ of, connections, maximum }) =>
    maximum === null ? [] : [{ ...LIMIT_TEXTS[of], connections, maximum, share: connections / maximum }],
  );
  const { connections, maximum, share, has, mend } = limits.reduce((a, b) => (b.share > a.share ? b : a));
  const found = `${connections} of ${maximum} connections${has} are in use`;
  return share < FULL_SHARE
    ? good(found)
    : advice(
        found,
        `close unneeded connections, ${mend}, or lower DATABASE_POOL_SIZE of the apps; see docs/runbooks/connections-used-up.md`,
      );
}

/** The outbox table, from the system catalogue and the statistics. */
export interface OutboxFacts {
  readonly options: readonly string[];
  readonly deadRows: number;
  readonly liveRows: number;
}

const NEEDED_OPTIONS = ['fillfactor', 'autovacuum_vacuum_scale_factor', 'autovacuum_vacuum_cost_delay'];
const MANY_DEAD_ROWS = 200_000;

/** Whether the dead rows of the outbox, of which there are many, are vacuumed in time. */
export function judgeAutovacuum(facts: PostgresFacts, { options, deadRows, liveRows }: OutboxFacts): Finding {
  if (facts.autovacuum === 'off' || options.includes('autovacuum_enabled=false'))
    return fault(
      'autovacuum is off: the outbox grows and becomes slow',
      'set autovacuum = on, and for the table outbox too',
    );
  const missing = NEEDED_OPTIONS.filter((name) => !options.some((option) => option.startsWith(`${name}=`)));
  if (missing.length > 0)
    return advice(
      `the outbox lacks ${missing.join(', ')}`,
      'set them again as the first migration does: ALTER TABLE outbox SET (…)',
    );
  if (deadRows > MANY_DEAD_ROWS && deadRows > 10 * liveRows)
    return advice(
      `the outbox has ${deadRows} dead rows and ${liveRows} others`,
      'look for a transaction that has been open for long (pg_stat_activity), then VACUUM outbox',
    );
  if (facts.autovacuumNaptimeSeconds > MAX_NAPTIME_SECONDS)
    return advice(
      `autovacuum looks at the outbox every ${facts.autovacuumNaptimeSeconds} s`,
      'set autovacuum_naptime = 5s',
    );
  return good('the outbox is vacuumed often');
}

/** @param missing the names of missing partitions */
export function judgePartitions(missing: {
  readonly thisMonth: readonly string[];
  readonly nextMonth: readonly string[];
}): Finding {
  const mend = 'start a scheduler, which makes them within seconds, or: SELECT make_partitions(3)';
  if (missing.thisMonth.length > 0)
    return fault(
      `the partitions of this month are missing: ${missing.thisMonth.join(', ')}; nothing can be accepted`,
      mend,
    );
  if (missing.nextMonth.length > 0)
    return fault(`the partitions of next month are missing: ${missing.nextMonth.join(', ')}`, mend);
  return good('the partitions of this and the next month are there');
}

/** No more due rows of a queue are counted. */
export const MAX_DUE_COUNTED = 100_000;

/** The due rows of a queue of the outbox. */
interface QueueDue {
  readonly queue: 'email' | 'event' | 'webhook';
  readonly due: number;
  /** Those in progress, too; apart from what is paused, and from deliveries to slow receivers. */
  readonly oldestDueSeconds: number;
}

/** Due and leased rows of the outbox. */
export interface DueFacts {
  readonly backlog: readonly QueueDue[];
  /** For how long the oldest waiting row has been due without being made ready. */
  readonly overdueSeconds: number;
  readonly leasedAndExpired: number;
}

const LATE_SECONDS = 60;
const VERY_LATE_SECONDS = 15 * 60;

const MEND_EVENTS =
  'check that dispatchers are running, and whether receivers answer; see docs/runbooks/events-wait.md';
const QUEUES_OF_OUTBOX = {
  email: {
    noun: 'emails',
    mend: 'check that senders are running, and what the relay says; see docs/runbooks/emails-wait.md',
  },
  event: { noun: 'events', mend: MEND_EVENTS },
  webhook: { noun: 'deliveries', mend: MEND_EVENTS },
};

/** Whether due rows are processed in time. */
export function judgeBacklog({ backlog }: DueFacts): Finding {
  const oldestDueSeconds = Math.max(0, ...backlog.map((queue) => queue.oldestDueSeconds));
  const counts = backlog
    .map(
      ({ queue, due }) =>
        `${QUEUES_OF_OUTBOX[queue].noun}: ${due}${due === MAX_DUE_COUNTED ? ' or more' : ''}`,
    )
    .join(', ');
  const found = `due ${counts}; the oldest, in progress or not, apart from what is paused and deliveries to slow receivers, for ${durationText(oldestDueSeconds)}`;
  const late = backlog.filter((queue) => queue.oldestDueSeconds >= LATE_SECONDS);
  if (late.length === 0) return good(found);
  const mend = [...new Set(late.map(({ queue }) => QUEUES_OF_OUTBOX[queue].mend))].join('; ');
  return oldestDueSeconds >= VERY_LATE_SECONDS ? fault(found, mend) : advice(found, mend);
}

/** Whether there are rows that a running scheduler would have made ready or released by now. */
export function judgeLeases({ leasedAndExpired, overdueSeconds }: DueFacts): Finding {
  const mend = 'start a scheduler: it makes due rows ready and frees those of processes that died';
  if (overdueSeconds > LATE_SECONDS)
    return fault(`rows have been due for ${durationText(overdueSeconds)} and were not made ready`, mend);
  if (leasedAndExpired > 0)
    return fault(`${leasedAndExpired} rows are held by processes that died more than a minute ago`, mend);
  return good('no row is held by a process that died');
}

/** @param seconds since the last heartbeat of a scheduler */
export function judgeScheduler(seconds: number): Finding {
  return seconds < 5 * 60
    ? good(`a scheduler was at work ${durationText(Math.max(seconds, 0))} ago`)
    : fault(
        `no scheduler has reported for ${durationText(seconds)}`,
        'start one, and check that it reaches Redis: its regular jobs come from there',
      );
}

/** A relay, as the running senders see it. */
interface RelayState {
  readonly relay: string;
  readonly senders: number;
  /** How many of the senders it takes emails from. */
  readonly up: number;
}

/** Whether senders are running, and can send. The check of the relay itself ends before any command about an email. */
export function judgeSenders(relays: readonly RelayState[]): Finding {
  if (relays.length === 0)
    return fault(
      'no sender has reported within a minute: emails wait',
      'start one, and check that it reaches the database',
    );
  const down = relays.filter(({ senders, up }) => up < senders);
  if (down.length === 0) return good('every sender can send');
  const texts = down.map(({ relay, senders, up }) => `${relay} (${senders - up} of ${senders})`);
  const found = `senders that a relay refuses, or that cannot reach it: ${texts.join(', ')}`;
  const mend = 'see docs/runbooks/relay-refuses.md';
  return relays.some(({ up }) => up > 0)
    ? advice(`${found}; emails leave through the other senders or relays`, mend)
    : fault(`${found}; emails wait`, mend);
}

/** The size of the database, for information. */
export function describeSize({ databaseBytes }: PostgresFacts): Finding {
  return good(`the database takes ${bytesText(databaseBytes)}`);
}
