/** Version and settings of the server, and whether the connection has kept its startup parameters (`statement_timeout`), which poolers may drop; `reset_val` is the value at the start of a connection. A superuser is not bound by the limits of role and database. Locks: none. */
export const READ_SERVER = `
SELECT current_setting('server_version_num')::int AS "versionNumber", current_setting('server_version') AS version,
       current_setting('synchronous_commit') AS "synchronousCommit", current_setting('fsync') AS fsync,
       current_setting('full_page_writes') AS "fullPageWrites", current_setting('autovacuum') AS autovacuum,
       (SELECT setting::int FROM pg_settings WHERE name = 'autovacuum_naptime') AS "autovacuumNaptimeSeconds",
       current_setting('statement_timeout') <> '0' AS "keepsSettings", pg_is_in_recovery() AS "isStandby",
       CASE WHEN pg_is_in_recovery() THEN pg_is_wal_replay_paused() ELSE false END AS "isReplayPaused", (SELECT reset_val FROM pg_settings WHERE name = 'default_transaction_read_only') AS "readOnlyByDefault",
       (SELECT count(*)::int FROM pg_stat_activity WHERE wait_event = 'SyncRep' AND xact_start < now() - interval '4 seconds') AS "awaitingStandby",
       (SELECT jsonb_build_array(
          jsonb_build_object('of', 'server', 'connections', count(*), 'maximum', current_setting('max_connections')::int),
          jsonb_build_object('of', 'database', 'connections', count(*) FILTER (WHERE a.datid = d.oid), 'maximum', CASE WHEN d.datconnlimit >= 0 AND NOT r.rolsuper THEN d.datconnlimit END),
          jsonb_build_object('of', 'role', 'connections', count(*) FILTER (WHERE a.usesysid = r.oid), 'maximum', CASE WHEN r.rolconnlimit >= 0 AND NOT r.rolsuper THEN r.rolconnlimit END))
        FROM   pg_stat_activity a WHERE a.usesysid IS NOT NULL AND coalesce(a.backend_type, 'client backend') = 'client backend') AS "connectionLimits",
       pg_database_size(current_database())::float8 AS "databaseBytes",
       datname AS name, datcollversion AS "collationVersion", pg_database_collation_actual_version(d.oid) AS "actualCollationVersion"
FROM   pg_database d
JOIN   pg_roles r ON r.rolname = session_user
WHERE  d.datname = current_database()`;

/**
 * Checks for free disk space by making the server write 16 MiB, the size of a WAL segment, to a temporary file: what exceeds `work_mem` is spilled there, next
 * to the data unless `temp_tablespaces` says otherwise; a number takes 14 bytes. Both statements form one transaction. Locks: none.
 */
export const CHECK_DISK_SPACE = `
SET LOCAL work_mem = '64kB'; SELECT count(*) FROM generate_series(1, 16 * 1024 * 1024 / 14)`;

/** Storage options of the outbox, and its estimated numbers of dead and live rows. Locks: none. */
export const READ_OUTBOX_TABLE = `
SELECT coalesce(c.reloptions, '{}') AS options, coalesce(s.n_dead_tup, 0)::int AS "deadRows", coalesce(s.n_live_tup, 0)::int AS "liveRows"
FROM   pg_class c
LEFT JOIN pg_stat_user_tables s ON s.relid = c.oid
WHERE  c.oid = 'outbox'::regclass`;

/** The tables of Posthorn that locks of `held` keep from being written, by their holder. */
function lockedTables(holder: string, held: string): string {
  return `
  SELECT   l.${holder}, array_agg(DISTINCT coalesce(pg_partition_root(c.oid), c.oid)::regclass::text) AS tables
  FROM     ${held} l
  JOIN     pg_class c ON c.oid = l.relation AND c.relkind IN ('r', 'p')
  WHERE    l.granted AND l.mode IN ('ShareLock', 'ShareRowExclusiveLock', 'ExclusiveLock', 'AccessExclusiveLock')
  AND      l.database = (SELECT oid FROM pg_database WHERE datname = current_database())
  AND      c.relnamespace = (SELECT relnamespace FROM pg_class WHERE oid = to_regclass('outbox'))
  GROUP BY l.${holder}`;
}

/**
 * The other sessions on this database that have a transaction open, hold a lock that keeps a table of Posthorn from being written, or are waited for and
 * wait for nobody, not even for a synchronous standby: its return alone ends that well; the oldest first. Another role's session shows neither its kind nor when its transaction began, except to members of pg_read_all_stats.
 * Locks: none.
 */
export const FIND_OPEN_TRANSACTIONS = `
WITH waiting AS MATERIALIZED (
  SELECT pid, pg_blocking_pids(pid) AS blockers FROM (SELECT DISTINCT pid FROM pg_locks WHERE NOT granted) l
), locked AS MATERIALIZED (${lockedTables('pid', 'pg_locks')}
)
SELECT   a.pid, coalesce(a.usename, '') AS role, a.application_name AS "applicationName",
         extract(epoch FROM clock_timestamp() - a.xact_start)::float8 AS "openSeconds",
         coalesce(a.state LIKE 'idle in transaction%', false) AS "isIdle",
         coalesce(l.tables, '{}') AS "lockedTables", w.waiters
FROM     pg_stat_activity a
LEFT JOIN locked l ON l.pid = a.pid
CROSS JOIN LATERAL (SELECT count(*)::int AS waiters FROM waiting WHERE a.pid = ANY (blockers)) w
WHERE    a.datname = current_database() AND a.usesysid IS NOT NULL AND coalesce(a.backend_type, 'client backend') = 'client backend' AND a.pid <> pg_backend_pid()
AND      (a.xact_start IS NOT NULL OR l.pid IS NOT NULL OR w.waiters > 0)
AND      NOT EXISTS (SELECT FROM waiting WHERE pid = a.pid) AND a.wait_event IS DISTINCT FROM 'SyncRep'
ORDER BY a.xact_start, a.pid`;

/**
 * The prepared transactions of all databases of the server, the oldest first, with the tables of Posthorn that each keeps from being written, and how many
 * sessions wait for it. Their locks have no pid: they are found by the virtual transaction that holds the lock on the transaction's own id. Locks: none.
 */
export const FIND_PREPARED_TRANSACTIONS = `
WITH held AS MATERIALIZED (
  SELECT p.gid, l.*
  FROM   pg_prepared_xacts p
  JOIN   pg_locks x ON x.transactionid = p.transaction AND x.granted
  JOIN   pg_locks l ON l.virtualtransaction = x.virtualtransaction AND l.pid IS NULL
), locked AS MATERIALIZED (${lockedTables('gid', 'held')}
), waiting AS MATERIALIZED (
  SELECT   h.gid, count(DISTINCT w.pid)::int AS waiters
  FROM     held h
  JOIN     pg_locks w ON NOT w.granted AND (w.transactionid = h.transactionid OR (w.database, w.relation) = (h.database, h.relation))
  WHERE    0 = ANY (pg_blocking_pids(w.pid))
  GROUP BY h.gid
)
SELECT   quote_literal(p.gid) AS "quotedId", p.owner AS role, p.database, extract(epoch FROM clock_timestamp() - p.prepared)::float8 AS "openSeconds",
         coalesce(l.tables, '{}') AS "lockedTables", coalesce(w.waiters, 0) AS waiters
FROM     pg_prepared_xacts p
LEFT JOIN locked l ON l.gid = p.gid
LEFT JOIN waiting w ON w.gid = p.gid
ORDER BY p.prepared, p.gid`;

/** The replication slots that nobody reads, with the WAL that each retains, and how many transactions ago its snapshot is. Locks: none. */
export const FIND_INACTIVE_SLOTS = `
SELECT   slot_name AS name, wal_status IN ('extended', 'unreserved') AS "exceedsMaxWalSize", coalesce(age(xmin), 0) AS "snapshotAge",
         coalesce(pg_wal_lsn_diff(CASE WHEN pg_is_in_recovery() THEN pg_last_wal_replay_lsn() ELSE pg_current_wal_lsn() END, restart_lsn), 0)::float8 AS "retainedBytes"
FROM     pg_replication_slots
WHERE    NOT active AND wal_status <> 'lost'
ORDER BY slot_name`;

/** The missing partitions of this and the next month (UTC). Another application in the same database may have partitioned tables, too. Locks: none. */
export const FIND_MISSING_PARTITIONS = `
SELECT   p.name, m.ahead
FROM     pg_partitioned_table t
JOIN     pg_class c ON c.oid = t.partrelid
CROSS JOIN generate_series(0, 1) AS m (ahead)
CROSS JOIN LATERAL (
  SELECT c.relname || '_' || to_char((now() AT TIME ZONE 'UTC') + make_interval(months => m.ahead), 'YYYY_MM') AS name
) p
WHERE    c.relnamespace = (SELECT relnamespace FROM pg_class WHERE oid = to_regclass('outbox')) AND to_regclass(p.name) IS NULL
ORDER BY p.name`;

/**
 * Rows that a running scheduler would have made ready or freed. A minute after its expiry is how long an abandoned lease may normally last.
 * Indexes: outbox_waiting_by_due_idx and outbox_taken_by_lease_idx, from their fronts.
 */
export const FIND_LEFT_BEHIND = `
SELECT (SELECT coalesce(greatest(extract(epoch FROM now() - min(due_at)), 0), 0)::float8 FROM outbox WHERE state = 'waiting') AS "overdueSeconds",
       (SELECT count(*)::int FROM (
          SELECT FROM outbox WHERE state = 'taken' AND lease_until < now() - interval '1 minute' LIMIT 100000
        ) l) AS "leasedAndExpired"`;

/** The tracking URLs that workspaces have of their own. $1 int: maximum number. Index: workspaces_by_tracking_host_idx. */
export const READ_TRACKING_URLS = `
SELECT DISTINCT tracking_url AS url FROM workspaces WHERE tracking_url IS NOT NULL ORDER BY tracking_url LIMIT $1::int`;

/** The newest encrypted secrets of a column. $1 int: maximum number. Index: the table's primary key, from its end. */
export function readSealed(table: string, column: string): string {
  return `SELECT id AS "rowId", ${column} AS sealed FROM ${table} WHERE ${column} IS NOT NULL ORDER BY id DESC LIMIT $1::int`;
}

/**
 * How many workspaces have no editor, but a webhook that can fail or a domain that can lose its verification, and the oldest of them. Not those whose domains an
 * operator vouches for.
 *
 * Indexes: webhooks_by_workspace_idx, identities_workspace_value_key and memberships_by_workspace_idx, for each workspace. Locks: none.
 */
export const FIND_WITHOUT_EDITOR = `
SELECT count(*)::int AS count, (array_agg(w.id ORDER BY w.id))[1] AS first
FROM   workspaces w
WHERE  NOT EXISTS (SELECT FROM memberships m WHERE m.workspace_id = w.id AND m.role = 'EDITOR')
AND    EXISTS (
         SELECT FROM webhooks h WHERE h.workspace_id = w.id AND h.status = 'ACTIVE'
         UNION ALL
         SELECT FROM identities d
         WHERE  d.workspace_id = w.id AND d.kind = 'domain' AND d.status IN ('VERIFIED', 'AT_RISK') AND NOT d.is_vouched)`;
