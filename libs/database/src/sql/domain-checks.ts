/**
 * Claims domains whose check is due, the longest due first: increments `claims`, and makes them due again in case this process dies. $1 int: maximum number.
 * $2 int: after how many seconds.
 *
 * Index: domain_checks_by_due_idx, from its front. Locks: the rows, skipping those that another scheduler is claiming.
 */
export const CLAIM_DUE_CHECKS = `
WITH due AS (
  SELECT   identity_id FROM domain_checks
  WHERE    due_at <= now()
  ORDER BY due_at
  LIMIT    $1::int
  FOR NO KEY UPDATE SKIP LOCKED
)
UPDATE    domain_checks c
SET       claims = c.claims + 1, due_at = now() + make_interval(secs => $2::int)
FROM      due d
WHERE     c.identity_id = d.identity_id
RETURNING c.identity_id AS id`;

/**
 * Claims the check of one domain on request of its workspace: the result of a check under way is discarded (fencing by `claims`), and the schedule starts
 * anew. $1 uuid: the identity. $2 uuid: the workspace. $3 int: due again after this many seconds. $4 int: minimum seconds since the last check.
 *
 * Indexes: domain_checks_pkey, identities_pkey. Locks: the check.
 */
export const CLAIM_CHECK = `
UPDATE    domain_checks c
SET       claims = c.claims + 1, rounds = 0, due_at = now() + make_interval(secs => $3::int)
FROM      identities i
WHERE     c.identity_id = $1::uuid AND i.id = c.identity_id AND i.workspace_id = $2::uuid
AND       (c.checked_at IS NULL OR c.checked_at <= now() - make_interval(secs => $4::int))
RETURNING c.identity_id AS id`;
