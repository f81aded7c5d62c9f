const RESULT = `id, encode(address_hash, 'hex') AS recipient, is_suppressing AS "isSuppressing", state, searched::float8 AS searched, deleted, redacted, remaining,
       is_remembered AS "isRemembered", cancelled, in_progress AS "inProgress", created_at AS "createdAt", finished_at AS "finishedAt"`;

/** How many unfinished erasures of other persons a workspace has. $1 uuid: the workspace. $2 text: the person's address. Index: erasures_unfinished_idx. Locks: none. */
export const COUNT_OPEN_ERASURES = `
SELECT count(*)::int AS count FROM erasures
WHERE  workspace_id = $1::uuid AND state <> 'COMPLETED' AND address_hash <> sha256(convert_to(lower($2::text), 'UTF8'))`;

/**
 * Creates an erasure; if one of the same person is unfinished, has that search everything again, unless it has not begun to. Returns it, and what it has deleted; no
 * row: there is no such workspace. $1 uuid: its id. $2 uuid: the workspace. $3 text: the address. $4 bool: whether to withhold future emails in any case.
 * $5 timestamptz: now, by a clock that may differ by milliseconds from that of whoever accepted an email a moment ago. $6 jsonb: the operator who erases the person
 * in all workspaces; null: it is asked for in this one, and its audit log says by whom.
 * Indexes: workspaces_pkey, erasures_one_at_once_key. Locks: the row.
 */
export const BEGIN_ERASURE = `
INSERT INTO erasures AS e (id, workspace_id, address_hash, address, is_suppressing, operator, created_at, erases_until, next_at)
SELECT $1::uuid, w.id, sha256(convert_to(lower($3::text), 'UTF8')), $3::text, $4::boolean, $6::text::jsonb, $5::timestamptz,
       $5::timestamptz + interval '100 milliseconds', $5::timestamptz
FROM   workspaces w
WHERE  w.id = $2::uuid
ON CONFLICT (workspace_id, address_hash) WHERE state <> 'COMPLETED' DO UPDATE
SET is_suppressing = e.is_suppressing OR excluded.is_suppressing, is_asked_again = e.turn > 0,
    operator = CASE WHEN excluded.operator IS NOT NULL THEN e.operator END, erases_until = greatest(e.erases_until, excluded.erases_until)
RETURNING e.id, e.deleted, e.erases_until AS "erasesUntil"`;

/**
 * Records what was deleted at once by an erasure, and returns it. $1 uuid: its id. $2 jsonb: numbers of deleted rows by table. $3 bool: whether a hash of the address
 * is kept. Index: erasures_pkey. Locks: the row, which is locked already.
 */
export const NOTE_FORGOTTEN = `
UPDATE erasures e SET deleted = $2::text::jsonb, is_remembered = e.is_remembered OR $3::boolean
WHERE  e.id = $1::uuid
RETURNING ${RESULT}`;

/** An erasure. $1 uuid: its id. $2 uuid: its workspace. Index: erasures_pkey. Locks: none. */
export const READ_ERASURE = `SELECT ${RESULT} FROM erasures WHERE id = $1::uuid AND workspace_id = $2::uuid`;

/** Erasures. $1 uuid[]: their ids. Index: erasures_pkey. Locks: none. */
export const READ_ERASURES = `SELECT ${RESULT} FROM erasures WHERE id = ANY ($1::uuid[])`;

const PROGRESS = `e.state, e.step, e.position, e.passes, e.is_asked_again AS "isAskedAgain", e.searched::float8 AS searched, e.deleted, e.redacted, e.remaining,
         e.is_remembered AS "isRemembered", e.cancelled, e.in_progress AS "inProgress"`;

/**
 * The erasure that has waited longest for its next group, among the oldest of each workspace that can go on: so many erasures of one workspace do not slow
 * down those of others. Index: erasures_unfinished_idx. Locks: none; see {@link LOCK_ERASURE}.
 */
export const NEXT_ERASURE = `
SELECT   e.id, e.workspace_id AS "workspaceId", e.address, e.erases_until AS "erasesUntil", e.turn, ${PROGRESS}
FROM     erasures e
WHERE    e.state <> 'COMPLETED' AND e.next_at <= now()
AND      NOT EXISTS (
           SELECT FROM erasures o
           WHERE  o.workspace_id = e.workspace_id AND o.state <> 'COMPLETED' AND o.next_at <= now() AND o.id < e.id)
ORDER BY e.next_at
LIMIT    1`;

/**
 * Locks an erasure, before anything else of its group, and returns its progress; no row if somebody else has locked it, or has searched a group meanwhile. $1 uuid:
 * its id. $2 int: its turn. Index: erasures_pkey. Locks: the row.
 */
export const LOCK_ERASURE = `
SELECT ${PROGRESS}, e.is_suppressing AS "isSuppressing", e.operator
FROM   erasures e
WHERE  e.id = $1::uuid AND e.turn = $2::int
FOR NO KEY UPDATE SKIP LOCKED`;

/** Adds a cancelled email to an erasure, which others then go before. $1 uuid: its id. Index: erasures_pkey. Locks: the row, which is locked already. */
export const NOTE_CANCELLED = `UPDATE erasures SET cancelled = cancelled + 1, next_at = clock_timestamp() WHERE id = $1::uuid`;

/**
 * Records the progress of an erasure after a group; a completed one forgets the address. $1 uuid: its id. $2 jsonb: the progress. $3 int: the seconds to wait.
 * Index: erasures_pkey. Locks: the row, which is locked already.
 */
export const NOTE_ERASED_GROUP = `
UPDATE erasures e
SET    state = p.state, step = p.step, position = p.position, passes = p.passes, is_asked_again = p."isAskedAgain", searched = p.searched,
       deleted = p.deleted, redacted = p.redacted, remaining = p.remaining, is_remembered = p."isRemembered", cancelled = p.cancelled,
       in_progress = p."inProgress", turn = e.turn + 1,
       address = CASE WHEN p.state <> 'COMPLETED' THEN e.address END,
       finished_at = CASE WHEN p.state = 'COMPLETED' THEN now() END,
       next_at = clock_timestamp() + make_interval(secs => $3::int)
FROM   jsonb_to_record($2::text::jsonb) AS p (
         state erasure_state, step text, position text[], passes int, "isAskedAgain" boolean, searched bigint, deleted jsonb, redacted jsonb,
         remaining jsonb, "isRemembered" boolean, cancelled int, "inProgress" int)
WHERE  e.id = $1::uuid`;

/**
 * Lets erasures of other workspaces go before the next one of a workspace of which one is completed. $1 uuid: the workspace. Index: erasures_unfinished_idx.
 * Locks: the row, unless somebody else has locked it.
 */
export const PASS_TURN = `
UPDATE erasures SET next_at = clock_timestamp()
WHERE  id = (
         SELECT id FROM erasures
         WHERE  workspace_id = $1::uuid AND state <> 'COMPLETED' AND next_at <= now()
         ORDER BY id
         LIMIT  1
         FOR NO KEY UPDATE SKIP LOCKED)`;

/** Puts off an erasure that has failed, so that it does not block others. $1 uuid: its id. Index: erasures_pkey. Locks: the row. */
export const PUT_ERASURE_OFF = `UPDATE erasures SET next_at = now() + interval '5 minutes' WHERE id = $1::uuid`;

/** Deletes erasures that were completed more than $1 int days ago. Index: erasures_finished_idx, from its front. Locks: the rows. */
export const FORGET_ERASURES = `
DELETE FROM erasures WHERE state = 'COMPLETED' AND finished_at < now() - make_interval(days => $1::int)`;
