import { type Suppression, SUPPRESSION_REASONS } from '@posthorn/domain';
import type { OperatorAccount } from '@posthorn/database';
import { emailsTo } from '../emails/email-search.ts';
import { html, type Html } from '../pages/html.ts';
import { field, hiddenFields, select } from '../pages/fields.ts';
import { confirmationNotice, faultAlert, time } from '../pages/components.ts';
import { resultsTable, searchForm } from '../pages/search-components.ts';
import type { SearchResult } from '../pages/search.ts';
import { type PageWorkspaces, workspaceCell, workspaceField } from '../pages/workspaces.ts';
import type { SUPPRESSION_FIELDS } from './suppression-search.ts';

/** The values of the form for a new suppression, and what was wrong with them. */
interface FilledForm {
  readonly email?: string | undefined;
  readonly workspace?: string | undefined;
  readonly reason?: string | undefined;
  readonly fault?: string;
}

interface SuppressionsPageData extends SearchResult<(typeof SUPPRESSION_FIELDS)[number], Suppression> {
  readonly workspaces: PageWorkspaces;
  readonly account: OperatorAccount;
  /** The cursor of the current page. */
  readonly startAt?: string | undefined;
  /** Confirms the action just done. */
  readonly done?: string | undefined;
  /** The form for a new suppression, where it was refused. */
  readonly filled?: FilledForm;
}

/** The search for suppressions and its results. */
export function suppressionsPage(shown: SuppressionsPageData): Html {
  const { criteria, found, fault, workspaces, account } = shown;
  const isOperator = account.role === 'operator';
  const place = { ...criteria, startAt: shown.startAt };
  const { nameOf, suggested } = workspaces;
  const row = (entry: Suppression): Html =>
    html`<tr>
      <td data-label="Since (UTC)">${time(entry.createdAt)}</td>
      <td class="wrap first">
        <a href="${emailsTo(entry.email)}">${entry.email}</a>
      </td>
      <td class="wrap">${whyOf(entry)}</td>
      ${workspaceCell(entry.workspaceId, nameOf)}
      ${isOperator ? html`<td>${removeForm(entry, place)}</td>` : ''}
    </tr>`;
  // Open after a search for an address that is not suppressed, and after a refused form.
  const isOpen = shown.filled !== undefined || (found?.items.length === 0 && criteria.email !== undefined);
  const columns = ['Since (UTC)', 'Address', 'Why', 'Workspace', ...(isOperator ? ['Actions'] : [])];
  const fields = [
    field('email', 'Address', { value: criteria.email }),
    workspaceField(criteria.workspace, suggested),
  ];
  return html`<h1>Suppressions</h1>
    ${confirmationNotice(shown.done)} ${searchForm('/suppressions', fields)} ${faultAlert(fault)}
    <p class="quiet">
      Addresses to which no email of the workspace is sent, newest first. A removed address that still bounces
      permanently is added again by its next bounce.
    </p>
    ${isOperator ? addForm(shown.filled ?? criteria, isOpen) : ''}
    ${resultsTable(shown, { path: '/suppressions', columns, row })}`;
}

/** Why an address is suppressed, and by which email or whom. */
function whyOf({ reason, emailId, createdBy }: Suppression): Html {
  const by = emailId === null ? createdBy.name : html`<a href="/emails/${emailId}">this email</a>`;
  return html`${reason}: ${SUPPRESSION_REASONS[reason]} (${by})`;
}

const REASON_TEXTS = Object.fromEntries(
  Object.entries(SUPPRESSION_REASONS).map(([reason, sentence]) => [reason, `${reason}: ${sentence}`]),
);

/** The form for a new suppression. */
function addForm({ email, workspace, reason = 'MANUAL', fault }: FilledForm, isOpen: boolean): Html {
  return html`<details class="card" ${isOpen ? html`open` : ''}>
    <summary>Add an address to the list</summary>
    ${faultAlert(fault)}
    <form method="post" action="/suppressions">
      <div class="search">
        ${field('email', 'Address', { id: 'new-email', value: email, isRequired: true })}
        ${field('workspace', 'Workspace', { id: 'new-workspace', value: workspace, list: 'workspaces', isRequired: true })}
        ${select('reason', 'Why', { texts: REASON_TEXTS, value: reason })}
        <div><button>Add it to the list</button></div>
      </div>
    </form>
    <p class="quiet" style="margin-bottom:0">
      The audit log of the workspace says who did so and why, but not the address.
    </p>
  </details>`;
}

/** Its hidden fields lead back to the current search. */
function removeForm({ id, email }: Suppression, place: Readonly<Record<string, string | undefined>>): Html {
  return html`<form method="post" action="/suppressions/${id}/remove">
    ${hiddenFields(place)}
    <button aria-label="Remove: ${email}">Remove</button>
  </form>`;
}
