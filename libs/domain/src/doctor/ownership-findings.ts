import { advice, fault, type Finding, good } from './finding.ts';

/** Whose the tables are, and what the role of a connection may do with them. */
export interface Ownership {
  readonly owner: string;
  readonly role: string;
  readonly schema: string;
  /** Whether the role is the owner, a member of it, or a superuser. */
  readonly actsAsOwner: boolean;
  /** Whether the role may create tables in the schema. */
  readonly mayCreate: boolean;
  /** The partitions that belong to another role than their table. */
  readonly strangePartitions: readonly string[];
}

/** Whether the role can make and drop the partitions of months, and whether migrations can change those that there are. */
export function judgeOwnership({
  owner,
  role,
  schema,
  actsAsOwner,
  mayCreate,
  strangePartitions,
}: Ownership): Finding {
  const useOwner = `let migrations and all apps log in as ${owner}, or: GRANT "${owner}" TO "${role}"; ALTER ROLE "${role}" SET role = "${owner}"`;
  const later = 'cannot create the partitions of later months; without them nothing can be accepted';
  if (!actsAsOwner) return fault(`the tables belong to ${owner}, and ${role} ${later}`, useOwner);
  if (!mayCreate) return fault(`${role} ${later}`, `GRANT CREATE ON SCHEMA ${schema} TO "${role}"`);
  const [first] = strangePartitions;
  if (first !== undefined)
    return advice(
      `${strangePartitions.length} partitions do not belong to ${owner}, as their tables do, the first is ${first}: a migration cannot change them`,
      `ALTER TABLE ${first} OWNER TO "${owner}", and so on; ${useOwner}`,
    );
  if (role !== owner)
    return advice(
      `the tables belong to ${owner}, and the partitions that ${role} makes will not: a migration cannot change them`,
      useOwner,
    );
  return good(`the tables and their partitions belong to ${owner}`);
}
