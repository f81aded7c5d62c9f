import { conditionsOf, type EmailFilter, SHOWN_EMAIL, statusOf } from './email-list.ts';
import { all, boundsOf, inOrder, type Statement, type Stretch, readStretch, Values } from './statement.ts';

/**
 * Reads a stretch of the emails of all workspaces: see {@link readStretch}.
 *
 * With a recipient it asks each workspace for theirs: emails_by_recipient_idx from the place where the stretch begins; its cost grows with
 * the workspaces. Without one it reads emails_pkey from there, and sifts what it finds. The bounds of time are bounds of the id, so that
 * only the months between them are looked at. Locks: none.
 */
export function searchEmails({ to, ...others }: EmailFilter, stretch: Stretch): Statement {
  const values = new Values();
  const sifted = [...conditionsOf(others, values), ...statusOf(others, values)];
  const scanned = boundsOf(others, stretch, values);
  const shown = `e.workspace_id AS "workspaceId", ${SHOWN_EMAIL}`;
  if (to === undefined) return readStretch(stretch, values, { table: 'emails', scanned, sifted, shown });
  const ofWorkspace = ['workspace_id = w.id', `to_address = ${values.add(to, 'text')}`, ...scanned];
  const table = `(
    SELECT s.id, s.matches
    FROM   workspaces w
    CROSS JOIN LATERAL (
      SELECT   id, ${all(sifted)} AS matches
      FROM     emails
      WHERE    ${all(ofWorkspace)}
      ORDER BY id ${inOrder(stretch.sort).order}
      LIMIT    ${values.add(stretch.maxSeen, 'int')}
    ) s
  ) theirs`;
  return readStretch(stretch, values, { table, scanned: [], sifted: ['matches'], shown });
}

/** Whose an email is. $1 uuid. Index: emails_pkey. Locks: none. */
export const READ_EMAIL_WORKSPACE = `SELECT workspace_id AS "workspaceId" FROM emails WHERE id = $1::uuid`;
