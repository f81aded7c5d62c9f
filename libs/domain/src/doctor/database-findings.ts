import { advice, bytesText, fault, type Finding, good, pointAtPrimary } from './finding.ts';

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

/** The size of the database, for information. */
export function describeSize({ databaseBytes }: PostgresFacts): Finding {
  return good(`the database takes ${bytesText(databaseBytes)}`);
}
