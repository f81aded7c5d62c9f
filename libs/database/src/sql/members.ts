/** The member of a workspace with an address, whatever its letter case. $1 uuid, $2 text. Indexes: users_email_key, memberships_workspace_user_key. */
export const FIND_MEMBER_BY_ADDRESS = `
SELECT u.id
FROM   users u
JOIN   memberships m ON m.user_id = u.id AND m.workspace_id = $1::uuid
WHERE  lower(u.email) = lower($2::text)`;

/** The invitation of an address that is neither accepted nor revoked. $1 uuid, $2 text. Index: invitations_unanswered_email_key. Locks: the row. */
export const FIND_UNANSWERED_INVITATION = `
SELECT id, expires_at AS "expiresAt"
FROM   invitations
WHERE  workspace_id = $1::uuid AND lower(email) = lower($2::text) AND accepted_at IS NULL AND revoked_at IS NULL
FOR NO KEY UPDATE`;

/**
 * The user with an address, whatever its letter case; inserted if there is none. Waits for whoever inserts or deletes the same user. (The no-op DO UPDATE locks an
 * existing row and makes RETURNING return it; DO NOTHING would not.)
 *
 * $1 uuid, $2 text, $3 text, $4 timestamptz. Index: users_email_key. Locks: the user.
 */
export const KEEP_USER = `
INSERT INTO users AS u (id, email, name, created_at) VALUES ($1::uuid, $2, $3, $4::timestamptz)
ON CONFLICT (lower(email)) DO UPDATE SET name = u.name
RETURNING id, email, name`;
