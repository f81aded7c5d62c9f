import { parseId } from '@posthorn/kernel';
import { AUDITED_ACTIONS, type AuditedAction } from '@posthorn/domain';
import type { AuditEntry } from '@posthorn/database';
import { html, type Html } from '../pages/html.ts';
import { choice, field, timeField } from '../pages/fields.ts';
import { faultAlert, time } from '../pages/components.ts';
import { resultsTable, searchForm } from '../pages/search-components.ts';
import type { SearchResult } from '../pages/search.ts';
import { type PageWorkspaces, workspaceField } from '../pages/workspaces.ts';
import { actorText, detailText } from './changes-table.ts';

/** The fields of the search in the audit log. */
export const AUDIT_FIELDS = ['workspace', 'action', 'subject', 'after', 'before'] as const;

/** The actions that the audit log can be searched by. */
export const ACTIONS = Object.fromEntries(AUDITED_ACTIONS.map((action) => [action, action])) as Record<
  AuditedAction,
  AuditedAction
>;

interface AuditPageData extends SearchResult<(typeof AUDIT_FIELDS)[number], AuditEntry> {
  readonly workspaces: PageWorkspaces;
}

/** The search in the audit log and its results. */
export function auditPage(shown: AuditPageData): Html {
  const { criteria, fault, workspaces } = shown;
  const { action, subject, after, before } = criteria;
  const fields = [
    choice('action', 'What was done', { words: AUDITED_ACTIONS, value: action }),
    field('subject', 'Subject (id)', { value: subject }),
    timeField('after', 'Done from', { value: after }),
    timeField('before', 'Done before', { value: before }),
  ];
  const areFilled = [action, subject, after, before].some((value) => value !== undefined);
  const columns = ['Done (UTC)', 'What', 'By', 'Subject', 'Detail'];
  return html`<h1>Audit log</h1>
    ${searchForm('/audit', [workspaceField(criteria.workspace, workspaces.suggested)], { fields, areFilled })}
    <p class="quiet">
      Who changed what in a workspace; without one, in the whole installation: operators, pauses of
      everything, secrets, and who signed in here. Newest first.
    </p>
    ${faultAlert(fault)} ${resultsTable(shown, { path: '/audit', columns, row })}`;
}

function row({ createdAt, action, actor, subjectId, detail }: AuditEntry): Html {
  return html`<tr>
    <td data-label="Done (UTC)">${time(createdAt)}</td>
    <td class="first">${action}</td>
    <td class="name"><bdi>${actorText(actor)}</bdi></td>
    <td class="wrap">${subjectText(subjectId)}</td>
    <td class="wrap"><bdi>${detailText(detail)}</bdi></td>
  </tr>`;
}

/** A link, where the dashboard has a page of it. */
function subjectText(id: string): Html {
  if (parseId('trs', id) !== undefined) return html`<a href="/emails/${id}">${id}</a>`;
  return parseId('wh', id) === undefined ? html`${id}` : html`<a href="/webhooks/${id}">${id}</a>`;
}
