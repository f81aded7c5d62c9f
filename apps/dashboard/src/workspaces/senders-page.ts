import { expectedRecords, type Page } from '@posthorn/domain';
import type { IdentityWithRecords, Workspace } from '@posthorn/database';
import { table, time } from '../pages/components.ts';
import { html, type Html } from '../pages/html.ts';
import { resultsTable } from '../pages/search-components.ts';
import { workspaceLink } from '../pages/workspaces.ts';

const COLUMNS = ['Sender', 'Status', 'What is missing', 'Checked (UTC)'];

/** All that a workspace may send from, page by page. */
export function sendersPage(workspace: Workspace, found: Page<IdentityWithRecords>): Html {
  const path = `/workspaces/${workspace.id}/senders`;
  return html`<h1>Senders</h1>
    <p>Of ${workspaceLink(workspace)}, newest first.</p>
    ${resultsTable({ criteria: {}, found }, { path, columns: COLUMNS, row })}`;
}

/** The addresses and domains that a workspace may send from, and what their DNS lacks. */
export function sendersTable(identities: readonly IdentityWithRecords[]): Html {
  return table(COLUMNS, identities.map(row));
}

function row(identity: IdentityWithRecords): Html {
  return html`<tr>
    <td class="wrap first"><bdi>${identity.value}</bdi></td>
    <td class="${identity.status === 'VERIFIED' ? '' : 'bad'}">
      ${identity.status}${identity.isVouched ? ', by an operator' : ''}
    </td>
    <td class="wrap">${missingText(identity)}</td>
    <td data-label="Checked (UTC)">${time(identity.check?.checkedAt ?? null)}</td>
  </tr>`;
}

/** What the last look-up did not find; the required record is the one that verifies the domain. */
function missingText({ kind, value, status, keys, check }: IdentityWithRecords): Html {
  if (kind === 'address')
    return html`${status === 'VERIFIED' ? '' : 'the link in its mail was not used yet'}`;
  const findings = check?.findings ?? {};
  const required = new Set(
    expectedRecords(value, keys, undefined)
      .filter(({ isRequired }) => isRequired)
      .map(({ name }) => name),
  );
  const missing = Object.entries(findings).filter(([, { state }]) => state !== 'FOUND');
  if (Object.keys(findings).length === 0) return html`<span class="quiet">it was not looked for yet</span>`;
  return html`${missing.map(
    ([name, { state, message }]) =>
      html`<div class="${required.has(name) ? 'bad' : ''}">
        ${required.has(name) ? 'Required: ' : ''}${name} ${state}: ${message}
      </div>`,
  )}`;
}
