import { type Suppression, SUPPRESSION_REASONS } from '@posthorn/domain';
import type { OperatorAccount, Workspace } from '@posthorn/database';
import { emailsTo } from '../emails/email-search.ts';
import { html, type Html } from '../pages/html.ts';
import { field } from '../pages/fields.ts';
import { done, faultAlert, time } from '../pages/parts.ts';
import { foundTable, searchForm } from '../pages/search-shown.ts';
import type { Searched } from '../pages/searched.ts';
import { workspaceField, workspaceNames } from '../pages/workspaces.ts';
import type { SUPPRESSION_FIELDS } from './suppression-search.ts';

interface Found extends Searched<(typeof SUPPRESSION_FIELDS)[number], Suppression> {
  readonly workspaces: readonly Workspace[];
  readonly account: OperatorAccount;
  /** What somebody has just done. */
  readonly done?: string | undefined;
}

/** The search for addresses that nothing is sent to, and what it has found. */
export function suppressionsPage(shown: Found): Html {
  const { asked, found, fault, workspaces, account } = shown;
  const isOperator = account.role === 'operator';
  const nameOf = workspaceNames(workspaces);
  const row = (entry: Suppression): Html =>
    html`<tr>
      <td data-label="Since (UTC)">${time(entry.createdAt)}</td>
      <td class="wrap first">
        <a href="${emailsTo(entry.email)}">${entry.email}</a>
      </td>
      <td class="wrap">${whyOf(entry)}</td>
      <td>${nameOf(entry.workspaceId)}</td>
      ${isOperator ? html`<td>${removeForm(entry)}</td>` : ''}
    </tr>`;
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
    ${isOperator ? addForm(asked, found?.items.length === 0) : ''}
    ${foundTable(shown, { path: '/suppressions', columns, row })}`;
}

/** Why an address is on the list, and by which email or whom. */
function whyOf({ reason, emailId, createdBy }: Suppression): Html {
  const by = emailId === null ? createdBy.name : html`<a href="/emails/${emailId}">this email</a>`;
  return html`${reason}: ${SUPPRESSION_REASONS[reason]} (${by})`;
}

/** The form that puts an address on the list of a workspace: open where somebody has looked for one that is not on it. */
function addForm({ email, workspace }: Found['asked'], isNotThere: boolean): Html {
  const option = ([reason, sentence]: [string, string]): Html =>
    html`<option value="${reason}" ${reason === 'MANUAL' ? html`selected` : ''}>
      ${reason}: ${sentence}
    </option>`;
  return html`<details class="card" ${isNotThere && email !== undefined ? html`open` : ''}>
    <summary>Put an address on the list</summary>
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

function removeForm({ id }: Suppression): Html {
  return html`<form method="post" action="/suppressions/${id}/remove"><button>Take it off</button></form>`;
}
