import { type Suppression, SUPPRESSION_REASONS } from '@posthorn/domain';
import type { OperatorAccount, Workspace } from '@posthorn/database';
import { emailsTo } from '../emails/email-search.ts';
import { html, type Html } from '../pages/html.ts';
import { field } from '../pages/fields.ts';
import { done, faultAlert, time } from '../pages/parts.ts';
import { foundTable, searchForm } from '../pages/search-shown.ts';
import type { Searched } from '../pages/searched.ts';
import { workspaceCell, workspaceField, workspaceNames } from '../pages/workspaces.ts';
import type { SUPPRESSION_FIELDS } from './suppression-search.ts';

/** What the form that puts an address on the list is filled with. */
interface FilledForm {
  readonly email?: string | undefined;
  readonly workspace?: string | undefined;
  readonly reason?: string | undefined;
  readonly fault?: string;
}

interface Found extends Searched<(typeof SUPPRESSION_FIELDS)[number], Suppression> {
  readonly workspaces: readonly Workspace[];
  readonly account: OperatorAccount;
  /** Where the page begins. */
  readonly startAt?: string | undefined;
  /** What somebody has just done. */
  readonly done?: string | undefined;
  /** What somebody wanted on the list, and why it was refused. */
  readonly filled?: FilledForm;
}

/** The search for addresses that nothing is sent to, and what it has found. */
export function suppressionsPage(shown: Found): Html {
  const { asked, found, fault, workspaces, account } = shown;
  const isOperator = account.role === 'operator';
  const place = { ...asked, startAt: shown.startAt };
  const nameOf = workspaceNames(workspaces);
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
  // Somebody has looked for an address that is not on the list, or what they wanted on it was refused.
  const isOpen = shown.filled !== undefined || (found?.items.length === 0 && asked.email !== undefined);
  const columns = ['Since (UTC)', 'Address', 'Why', 'Workspace', ...(isOperator ? ['What can be done'] : [])];
  const fields = [
    field('email', 'Address', { value: asked.email }),
    workspaceField(asked.workspace, workspaces),
  ];
  return html`<h1>Suppressions</h1>
    ${done(shown.done)} ${searchForm('/suppressions', fields)} ${faultAlert(fault)}
    <p class="quiet">
      Addresses that no email of a workspace is sent to, the newest first. An address that bounces for good is
      put on the list again by the next bounce.
    </p>
    ${isOperator ? addForm(shown.filled ?? asked, isOpen) : ''}
    ${foundTable(shown, { path: '/suppressions', columns, row })}`;
}

/** Why an address is on the list, and by which email or whom. */
function whyOf({ reason, emailId, createdBy }: Suppression): Html {
  const by = emailId === null ? createdBy.name : html`<a href="/emails/${emailId}">this email</a>`;
  return html`${reason}: ${SUPPRESSION_REASONS[reason]} (${by})`;
}

/** The form that puts an address on the list of a workspace. */
function addForm({ email, workspace, reason: chosen = 'MANUAL', fault }: FilledForm, isOpen: boolean): Html {
  const option = ([reason, sentence]: [string, string]): Html =>
    html`<option value="${reason}" ${reason === chosen ? html`selected` : ''}>
      ${reason}: ${sentence}
    </option>`;
  return html`<details class="card" ${isOpen ? html`open` : ''}>
    <summary>Put an address on the list</summary>
    ${faultAlert(fault)}
    <form method="post" action="/suppressions">
      <div class="search">
        ${field('email', 'Address', { id: 'new-email', value: email, isRequired: true })}
        ${field('workspace', 'Workspace', { id: 'new-workspace', value: workspace, list: 'workspaces', isRequired: true })}
        <div>
          <label for="reason">Why</label>
          <select id="reason" name="reason">
            ${Object.entries(SUPPRESSION_REASONS).map(option)}
          </select>
        </div>
        <div><button>Put it on the list</button></div>
      </div>
    </form>
    <p class="quiet" style="margin-bottom:0">
      The audit log of the workspace says who did so and why, but not the address.
    </p>
  </details>`;
}

/** It leads back to the search that it stands in. */
function removeForm({ id, email }: Suppression, place: Readonly<Record<string, string | undefined>>): Html {
  const hidden = ([name, value]: [string, string | undefined]): Html =>
    value === undefined ? html`` : html`<input type="hidden" name="${name}" value="${value}" />`;
  return html`<form method="post" action="/suppressions/${id}/remove">
    ${Object.entries(place).map(hidden)}
    <button aria-label="Take it off: ${email}">Take it off</button>
  </form>`;
}
