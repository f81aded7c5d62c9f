import { type EmailFilter, conditionsOf, SHOWN_EMAIL, statusOf } from './email-list.ts';
import { boundsOf, type Statement, type Stretch, Values } from './statement.ts';

/**
 * Reads a stretch of the emails of all workspaces in the order of their ids. What it looks at is bounded as in `listEmails`.
 *
 * With a recipient it asks each workspace for theirs: emails_by_recipient_idx from the place where the stretch begins; its cost grows with
 * the workspaces. Without one it reads emails_pkey from there, and sifts what it finds. The bounds of time are bounds of the id, so that
 * only the months between them are looked at. Locks: none.
 */
export function searchEmails(filter: EmailFilter, stretch: Stretch): Statement {
  const values = new Values();
  const order = stretch.sort === 'createdAt.asc' ? 'ASC' : 'DESC';
  const mostSeen = values.add(stretch.mostSeen, 'int');
  const text = `
WITH looked_at AS (
${lookedAt(filter, stretch, values, `ORDER BY id ${order}\n  LIMIT    ${mostSeen}`)}
),
seen AS (
  SELECT   id, row_number() OVER (ORDER BY id ${order})::int AS n, matches
  FROM     looked_at
  ORDER BY id ${order}
  LIMIT    ${mostSeen}
),
given AS (
  SELECT * FROM seen WHERE matches OR n = ${mostSeen} ORDER BY id ${order} LIMIT ${values.add(stretch.mostGiven, 'int')}
)
SELECT   g.n, g.matches, e.workspace_id AS "workspaceId", ${SHOWN_EMAIL}
FROM     given g
JOIN     emails e ON e.id = g.id
ORDER BY e.id ${order}`;
  return { text, values: values.list };
}

function lookedAt(
  { to, ...others }: EmailFilter,
  stretch: Stretch,
  values: Values,
  orderAndLimit: string,
): string {
  const sifting = [...conditionsOf(others, values), ...statusOf(others, values)].join(' AND ') || 'true';
  const bounds = boundsOf(others, stretch, values);
  if (to === undefined)
    return `  SELECT   id, ${sifting} AS matches
  FROM     emails
  WHERE    ${bounds.join(' AND ') || 'true'}
  ${orderAndLimit}`;
  const scanned = ['workspace_id = w.id', `to_address = ${values.add(to, 'text')}`, ...bounds];
  return `  SELECT s.id, s.matches
  FROM   workspaces w
  CROSS JOIN LATERAL (
  SELECT   id, ${sifting} AS matches
  FROM     emails
  WHERE    ${scanned.join(' AND ')}
  ${orderAndLimit}
  ) s`;
}

/** Whose an email is. $1 uuid. Index: emails_pkey. Locks: none. */
export const READ_EMAIL_WORKSPACE = `SELECT workspace_id AS "workspaceId" FROM emails WHERE id = $1::uuid`;
