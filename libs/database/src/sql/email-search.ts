import { conditionsOf, type EmailFilter, SHOWN_EMAIL, termsOf } from './email-list.ts';
import {
  all,
  boundedScan,
  inIndexOrder,
  rangeOf,
  type ScanWindow,
  type Statement,
  Values,
} from './statement.ts';

/**
 * Scans the emails of all workspaces: see {@link boundedScan}.
 *
 * With a recipient, or the status SCHEDULED, queries each workspace by the index for that (see `listEmails`) from where the window starts, so the cost
 * grows with the number of workspaces, and looks up other filters by emails_pkey. Otherwise scans emails_pkey from there and filters. Time bounds are
 * expressed as bounds of the id, so that other monthly partitions are pruned. Locks: none.
 */
export function searchEmails(window: ScanWindow, filter: EmailFilter): Statement {
  const values = new Values();
  const { indexed, others } = conditionsOf(filter, values);
  const range = rangeOf(filter, window, values);
  const shown = `e.workspace_id AS "workspaceId", ${SHOWN_EMAIL}`;
  if (filter.to === undefined && filter.status !== 'SCHEDULED')
    return boundedScan(window, values, {
      table: 'emails',
      range,
      filters: [...termsOf(indexed), ...others],
      shown,
    });
  const equalities = [{ column: 'workspace_id', value: 'w.id' }, ...indexed.equalities];
  const inIndex = inIndexOrder(equalities, range, window.sort);
  const ofWorkspace = [...inIndex.conditions, ...indexed.predicate];
  // If nothing is filtered, no more of one workspace than the whole page can have.
  const maxOfWorkspace = others.length === 0 ? window.maxGiven : window.maxSeen;
  const table = `(
    SELECT s.id
    FROM   workspaces w
    CROSS JOIN LATERAL (
      SELECT   id
      FROM     emails
      WHERE    ${all(ofWorkspace)}
      ORDER BY ${inIndex.order}
      LIMIT    ${values.add(maxOfWorkspace, 'int')}
    ) s
  ) theirs`;
  // Looked up only for the rows that the statement examines, not for all that the workspaces have.
  const filters = others.length === 0 ? [] : [`(SELECT ${all(others)} FROM emails WHERE id = theirs.id)`];
  return boundedScan(window, values, { table, filters, shown });
}

/** The workspace of an email. $1 uuid. Index: emails_pkey. Locks: none. */
export const READ_EMAIL_WORKSPACE = `SELECT workspace_id AS "workspaceId" FROM emails WHERE id = $1::uuid`;
