/**
 * Text formats that the code relies on, overriding the settings of server, database and role:
 * - `datestyle`: times are parsed as ISO 8601; in another style they would be read as null.
 * - `timezone`: in a zone with daylight saving, some days would have 23 or 25 hours.
 * - `standard_conforming_strings`: otherwise a backslash in a migration's CHECK pattern would mean something else.
 * - `quote_all_identifiers`: the months of partitions are parsed from unquoted table names.
 */
export const SESSION_FORMATS = [
  'SET datestyle = ISO',
  "SET timezone = 'UTC'",
  'SET standard_conforming_strings = on',
  'SET quote_all_identifiers = off',
].join('; ');

/**
 * Statistics lag behind when tables grow by thousands of rows a second. So sequential scans are disabled: a plan for a table that was empty a minute ago would
 * use one. And bitmap scans are disabled: a plan for a lane of a few rows would use one and sort its rows, which takes long once the lane has a hundred
 * thousand; otherwise the index is read in its order. Incremental sorts are disabled: one after any other index that begins with the workspace is estimated by
 * the average workspace, and would sort a million rows of a large one for its first fifty. JIT is disabled because the penalties for disabled plans would exceed its cost threshold.
 */
const PLANNER_SETTINGS =
  'SET enable_seqscan = off; SET enable_bitmapscan = off; SET enable_incremental_sort = off; SET jit = off';

/**
 * Compressing a mail of 24 kB takes 0.23 ms with `pglz`, the default, and 0.04 ms with `lz4`, which nearly every server has. A setting of the server, database
 * or role takes precedence.
 */
const COMPRESSION = `SELECT set_config(name, 'lz4', false) FROM pg_settings
WHERE name = 'default_toast_compression' AND source = 'default' AND 'lz4' = ANY (enumvals)`;

/**
 * The statements rely on READ COMMITTED: they wait for a concurrent change of a row, and continue from what it wrote. At any other level, which may be the
 * default of the server, database or role, they would fail instead, and two gateways could hardly accept emails for one workspace. SET TRANSACTION is there
 * because the session setup itself is one transaction.
 */
const ISOLATION = `SET TRANSACTION ISOLATION LEVEL READ COMMITTED; SET default_transaction_isolation = 'read committed'`;

/**
 * Administrators set these timeouts for a server, database or role, against sessions and transactions that were forgotten. Ours are not, and one whose session
 * ends at the moment in which a request gets it, or in the middle of its work, would have that request answered 503. Before release 17 there is only the first.
 */
const KEEP_SESSION = `SELECT set_config(name, '0', false) FROM pg_settings
WHERE name IN ('idle_session_timeout', 'transaction_timeout')`;

/**
 * In a restored database, begins a new era and pauses everything; otherwise changes nothing. Each new connection does this, because a database may be replaced
 * by a restored one while processes run, and nobody may claim from it before that is detected.
 */
const CHECK_EVENT_ERA = 'SELECT keep_event_era()';

/**
 * After a failover, the host name may for a while still resolve to the old server, which is a standby by then. A connection to it would stay in the pool, and
 * reject all changes, long after the name has been updated.
 */
const REFUSE_STANDBY = `DO $$ BEGIN
IF pg_is_in_recovery() THEN
  RAISE read_only_sql_transaction USING MESSAGE = 'this Postgres is a standby and accepts no writes; DATABASE_URL must point at the primary';
END IF; END $$`;

/** A server, database or role may be set to send none; `TimeoutClient` needs one of them. */
const WARNINGS = 'SET client_min_messages = warning';

/** What every session of the pool begins with; one transaction. */
export const SESSION_SETUP = [
  ISOLATION,
  REFUSE_STANDBY,
  SESSION_FORMATS,
  PLANNER_SETTINGS,
  COMPRESSION,
  KEEP_SESSION,
  WARNINGS,
  CHECK_EVENT_ERA,
].join('; ');
