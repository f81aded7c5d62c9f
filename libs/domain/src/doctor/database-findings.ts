import { advice, bytesText, fault, type Finding, good, pointAtPrimary, spanText } from './finding.ts';

/** What the server says of itself. */
export interface PostgresFacts {
  /** As `server_version_num`: 150004. */
  readonly versionNumber: number;
  readonly version: string;
  readonly synchronousCommit: string;
  readonly fsync: string;
  readonly fullPageWrites: string;
  readonly autovacuum: string;
  readonly autovacuumNaptimeSeconds: number;
  /** Whether what a connection begins with has reached the server. */
  readonly keepsSettings: boolean;
  readonly isStandby: boolean;
  /** `on` or `off`, as a new connection has it. */
  readonly readOnlyByDefault: string;
  /** How many transactions have waited for a synchronous standby for seconds. */
  readonly awaitingStandby: number;
  readonly maxConnections: number;
  readonly connections: number;
  readonly databaseBytes: number;
}

const MIN_VERSION = 150_000;
const MAX_NAPTIME_SECONDS = 15;
const FULL_SHARE = 0.8;

/** Whether this release of Postgres is supported. */
export function judgePostgresVersion({ versionNumber, version }: PostgresFacts): Finding {
  return versionNumber >= MIN_VERSION
    ? good(`Postgres ${version}`)
    : fault(`Postgres ${version}`, 'upgrade to Postgres 15 or newer');
}

/** Whether what it has confirmed is kept. */
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

/** Whether it takes changes. One that does not answers all the same, which after a failover looks as if all were well. */
export function judgeWritable({ isStandby, readOnlyByDefault, awaitingStandby }: PostgresFacts): Finding {
  const nothing = 'nothing can be accepted, sent or recorded';
  if (isStandby)
    return fault(`Postgres is a standby and takes no changes: ${nothing}`, pointAtPrimary('DATABASE_URL'));
  if (readOnlyByDefault === 'on')
    return fault(
      `Postgres takes no changes (default_transaction_read_only is on): ${nothing}`,
      'see why it was set, such as a disk that was nearly full, then set it to off for the server, the database and the role',
    );
  if (awaitingStandby > 0)
    return fault(
      `Postgres confirms no change while its synchronous standby is away; waiting for it: ${awaitingStandby}`,
      'bring the standby back, or name another one in synchronous_standby_names; without any, a failover can lose emails',
    );
  return good('Postgres takes changes');
}

/** Whether enough connections are free, and whether they keep their settings. */
export function judgeConnections({ connections, maxConnections, keepsSettings }: PostgresFacts): Finding {
  if (!keepsSettings)
    return fault(
      'connections lose their settings on the way: a pooler such as PgBouncer stands before Postgres; apps do not start',
      'point DATABASE_URL at Postgres itself',
    );
  const found = `${connections} of ${maxConnections} connections are in use`;
  return connections / maxConnections < FULL_SHARE
    ? good(found)
    : advice(found, 'raise max_connections, or lower DATABASE_POOL_SIZE of the apps');
}

/** The table of what is due, as the catalogue and the statistics have it. */
export interface OutboxFacts {
  readonly options: readonly string[];
  readonly deadRows: number;
  readonly liveRows: number;
}

const NEEDED_OPTIONS = ['fillfactor', 'autovacuum_vacuum_scale_factor', 'autovacuum_vacuum_cost_delay'];
const MANY_DEAD_ROWS = 200_000;

/** Whether rows that come and go by the thousand are cleared away. */
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

/** @param missing names of partitions, those of this month first */
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

/** What is due in one queue of the outbox. */
interface QueueDue {
  readonly queue: 'email' | 'event' | 'webhook';
  readonly due: number;
  readonly oldestDueSeconds: number;
}

/** What is due and who has it, of what nothing holds back. */
export interface DueFacts {
  readonly backlog: readonly QueueDue[];
  /** For how long the oldest row that waits has been due without being made ready. */
  readonly unripenedSeconds: number;
  readonly leasedAndExpired: number;
}

const LATE_SECONDS = 60;
const VERY_LATE_SECONDS = 15 * 60;

const MEND_EVENTS =
  'check that dispatchers are running, and whether receivers answer; docs/runbooks/events-wait.md goes through it';
const QUEUES_OF_OUTBOX = {
  email: {
    noun: 'emails',
    mend: 'check that senders are running, and what the relay says; docs/runbooks/emails-wait.md goes through it',
  },
  event: { noun: 'events', mend: MEND_EVENTS },
  webhook: { noun: 'deliveries', mend: MEND_EVENTS },
};

/** Whether what is due is worked off in time. */
export function judgeBacklog({ backlog }: DueFacts): Finding {
  const oldestDueSeconds = Math.max(0, ...backlog.map((queue) => queue.oldestDueSeconds));
  const counts = backlog.map(({ queue, due }) => `${due} ${QUEUES_OF_OUTBOX[queue].noun}`).join(', ');
  const found = `${counts} are due, the oldest for ${spanText(oldestDueSeconds)}`;
  const late = backlog.filter((queue) => queue.oldestDueSeconds >= LATE_SECONDS);
  if (late.length === 0) return good(found);
  const mend = [...new Set(late.map(({ queue }) => QUEUES_OF_OUTBOX[queue].mend))].join('; ');
  return oldestDueSeconds >= VERY_LATE_SECONDS ? fault(found, mend) : advice(found, mend);
}

/** Rows that a scheduler would have freed by now. */
export function judgeLeases({ leasedAndExpired, unripenedSeconds }: DueFacts): Finding {
  const mend = 'start a scheduler: it makes due rows ready and frees those of processes that died';
  if (unripenedSeconds > LATE_SECONDS)
    return fault(`rows have been due for ${spanText(unripenedSeconds)} and were not made ready`, mend);
  if (leasedAndExpired > 0)
    return fault(`${leasedAndExpired} rows are held by processes that died more than a minute ago`, mend);
  return good('no row is held by a process that died');
}

/** @param seconds since a scheduler last said that it works */
export function judgeScheduler(seconds: number): Finding {
  return seconds < 5 * 60
    ? good(`a scheduler was at work ${spanText(Math.max(seconds, 0))} ago`)
    : fault(
        `no scheduler has reported for ${spanText(seconds)}`,
        'start one, and check that it reaches Redis: its regular jobs come from there',
      );
}

/** How much the database holds: never a fault. */
export function describeSize({ databaseBytes }: PostgresFacts): Finding {
  return good(`the database takes ${bytesText(databaseBytes)}`);
}
