import { parseId } from '@posthorn/kernel';
import { type Actor, AUDITED_ACTIONS, type AuditedAction } from '@posthorn/domain';
import type { AuditEntry, Workspace } from '@posthorn/database';
import { html, type Html } from '../pages/html.ts';
import { choice, field } from '../pages/fields.ts';
import { faultAlert, plain, time } from '../pages/parts.ts';
import { foundTable, searchForm } from '../pages/search-shown.ts';
import type { Searched } from '../pages/searched.ts';
import { workspaceField } from '../pages/workspaces.ts';

/** The fields of the search in the audit log. */
export const AUDIT_FIELDS = ['workspace', 'action', 'subject', 'after', 'before'] as const;

/** What can have been done. */
export const ACTIONS = Object.fromEntries(AUDITED_ACTIONS.map((action) => [action, action])) as Record<
  AuditedAction,
  AuditedAction
>;

interface Found extends Searched<(typeof AUDIT_FIELDS)[number], AuditEntry> {
  readonly workspaces: readonly Workspace[];
}

/** The search for changes, and what it has found. */
export function auditPage(shown: Found): Html {
  const { asked, fault, workspaces } = shown;
  const { action, subject, after, before } = asked;
  const fields = [
    choice('action', 'What was done', { words: AUDITED_ACTIONS, value: action }),
    field('subject', 'To what (id)', { value: subject }),
    field('after', 'Done from (UTC)', { value: after, type: 'datetime-local' }),
    field('before', 'Done before (UTC)', { value: before, type: 'datetime-local' }),
  ];
  const areFilled = [action, subject, after, before].some((value) => value !== undefined);
  const columns = ['Done (UTC)', 'What', 'By', 'To what', 'Detail'];
  return html`<h1>Audit log</h1>
    ${searchForm('/audit', [workspaceField(asked.workspace, workspaces)], { fields, areFilled })}
    <p class="quiet">
      Who changed what in a workspace; without one, in the whole installation: operators, pauses of
      everything, secrets, and who signed in here. The newest first.
    </p>
    ${faultAlert(fault)} ${foundTable(shown, { path: '/audit', columns, row })}`;
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

/** What is said of who may have any name. */
const KINDS: Partial<Record<Actor['kind'], string>> = {
  operator: 'operator',
  user: 'member',
  api_key: 'API key',
};

function actorText({ kind, name }: Actor): string {
  return KINDS[kind] === undefined ? name : `${name} (${KINDS[kind]})`;
}

/** A link, where the dashboard has a page of it. */
function subjectText(id: string): Html {
  if (parseId('trs', id) !== undefined) return html`<a href="/emails/${id}">${id}</a>`;
  return parseId('wh', id) === undefined ? html`${id}` : html`<a href="/webhooks/${id}">${id}</a>`;
}

function detailText(detail: AuditEntry['detail']): string {
  return Object.entries(detail)
    .map(([name, value]) => `${name}: ${plain(value)}`)
    .join('; ');
}
