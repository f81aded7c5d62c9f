import { WORKSPACE_LIMITS } from '@posthorn/domain';

/** The verified addresses or domains of the workspace of a row `i`, up to the limit of identities. Index: identities_workspace_value_key, in its order. */
export function verifiedValues(kind: 'address' | 'domain'): string {
  return `ARRAY(
           SELECT value FROM identities d
           WHERE  d.workspace_id = i.workspace_id AND d.kind = '${kind}' AND d.verified_at IS NOT NULL
           ORDER BY value LIMIT ${WORKSPACE_LIMITS.identities})`;
}

/**
 * What a workspace may send from, if it may not send from an address. $1 uuid: the workspace. $2 text: the address. $3 text: its domain. No row if it may.
 * Index: identities_workspace_value_key. Locks: none.
 */
export const READ_ALLOWED_SENDERS = `
WITH own AS MATERIALIZED (
  SELECT id, kind, value, verified_at FROM identities WHERE workspace_id = $1::uuid AND value IN ($2::text, $3::text)
)
SELECT ${verifiedValues('address')} AS addresses,
       ${verifiedValues('domain')} AS domains,
       (SELECT json_build_object('id', type_id('idn', id), 'value', value) FROM own ORDER BY kind DESC LIMIT 1) AS unverified
FROM   (SELECT $1::uuid AS workspace_id) i
WHERE  NOT EXISTS (SELECT FROM own WHERE verified_at IS NOT NULL)`;
