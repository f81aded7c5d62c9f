import type { Ownership } from '@posthorn/domain';
import { CannotStart } from '@posthorn/kernel';
import type pg from 'pg';

/**
 * Whose the tables are, what this role may do, and the partitions that belong to another role than their table: a partition belongs to the role that makes it,
 * and a member of the owner may. Locks: none.
 */
const READ_OWNERSHIP = `
SELECT pg_get_userbyid(o.relowner)::text AS owner, current_user::text AS role, o.relnamespace::regnamespace::text AS schema,
       pg_has_role(o.relowner, 'USAGE') AS "actsAsOwner", has_schema_privilege(o.relnamespace, 'CREATE') AS "mayCreate",
       ARRAY(
         SELECT   c.oid::regclass::text
         FROM     pg_inherits i
         JOIN     pg_class p ON p.oid = i.inhparent AND p.relkind = 'p'
         JOIN     pg_class c ON c.oid = i.inhrelid
         WHERE    p.relnamespace = o.relnamespace AND p.relowner = o.relowner AND c.relowner <> o.relowner
         ORDER BY 1
       ) AS "strangePartitions"
FROM   pg_class o
WHERE  o.oid = 'outbox'::regclass`;

export async function readOwnership(pool: Pick<pg.Pool, 'query'>): Promise<Ownership> {
  return (await pool.query<Ownership>(READ_OWNERSHIP)).rows[0]!;
}

/** The role in DATABASE_URL may not make partitions. This would show only months later, when the existing ones are over and nothing can be accepted. */
class OwnerRequired extends CannotStart {
  constructor({ role, owner, schema, actsAsOwner }: Ownership) {
    super(
      actsAsOwner
        ? `The role ${role} may not create the partitions of later months: GRANT CREATE ON SCHEMA ${schema} TO "${role}"`
        : `The role ${role} may not create the partitions of later months, because the tables belong to ${owner}: use the role that npm run migrate ran as in DATABASE_URL`,
    );
  }
}

/** @throws OwnerRequired when this role may not make or drop the partitions of months */
export async function requireOwner({ pool }: { readonly pool: pg.Pool }): Promise<void> {
  const ownership = await readOwnership(pool);
  if (!ownership.actsAsOwner || !ownership.mayCreate) throw new OwnerRequired(ownership);
}
