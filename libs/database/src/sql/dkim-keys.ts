/**
 * The current signing keys of domains: those of verified domains that have been seen in the DNS; RSA first. $1 uuid[], $2 text[]: pairs of workspace and
 * domain. `n` is the number of the pair, from 1.
 *
 * Indexes: identities_workspace_value_key, dkim_keys_identity_algorithm_stage_key. Locks: none.
 */
export const READ_SIGNING_KEYS = `
SELECT   a.n::int AS n, k.id, k.algorithm, k.selector, k.private_key AS "sealedPrivateKey"
FROM     unnest($1::uuid[], $2::text[]) WITH ORDINALITY AS a (workspace_id, domain, n)
JOIN     identities i ON i.workspace_id = a.workspace_id AND i.value = a.domain
JOIN     dkim_keys k ON k.identity_id = i.id
WHERE    i.verified_at IS NOT NULL AND k.stage = 'CURRENT' AND k.published_at IS NOT NULL
ORDER BY a.n, k.algorithm`;
