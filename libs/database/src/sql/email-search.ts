import { conditionsOf, type EmailFilter, SHOWN_EMAIL, statusOf } from './email-list.ts';
import { all, boundsOf, inOrder, type Statement, type ScanWindow, boundedScan, Values } from './statement.ts';

/**
 * Scans the emails of all workspaces: see {@link boundedScan}.
 *
 * With a recipient, queries each workspace by emails_by_recipient_idx from where the window starts, so the cost grows with the number of workspaces. Without
 * one, scans emails_pkey from there and filters. Time bounds are expressed as bounds of the id, so that other monthly partitions are pruned. Locks: none.
 */
export function searchEmails({ to, ...others }: EmailFilter, window: ScanWindow): Statement {
  const values = new Values();
  const filters = [...conditionsOf(others, values), ...statusOf(others, values)];
  const indexConditions = boundsOf(others, window, values);
  const shown = `e.workspace_id AS "workspaceId", ${SHOWN_EMAIL}`;
  if (to === undefined)
    return boundedScan(window, values, { table: 'emails', indexConditions, filters, shown });
  const ofWorkspace = ['workspace_id = w.id', `to_address = ${values.add(to, 'text')}`, ...indexConditions];
  const table = `(
    SELECT s.id, s.matches
    FROM   workspaces w
    CROSS JOIN LATERAL (
      SELECT   id, ${all(filters)} AS matches
      FROM     emails
      WHERE    ${all(ofWorkspace)}
      ORDER BY id ${inOrder(window.sort).order}
      LIMIT    ${values.add(window.maxSeen, 'int')}
    ) s
  ) theirs`;
  return boundedScan(window, values, { table, indexConditions: [], filters: ['matches'], shown });
}

/** The workspace of an email. $1 uuid. Index: emails_pkey. Locks: none. */
export const READ_EMAIL_WORKSPACE = `SELECT workspace_id AS "workspaceId" FROM emails WHERE id = $1::uuid`;
