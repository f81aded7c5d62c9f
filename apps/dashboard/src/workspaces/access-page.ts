import type { Member, Page } from '@posthorn/domain';
import type { ApiKey, Workspace } from '@posthorn/database';
import { table, time } from '../pages/components.ts';
import { html, type Html } from '../pages/html.ts';
import { resultsTable } from '../pages/search-components.ts';
import { workspaceLink } from '../pages/workspaces.ts';

/** Who can use a workspace: its API keys, whose secrets are abbreviated, and its members. */
export function accessPage(workspace: Workspace, keys: readonly ApiKey[], members: Page<Member>): Html {
  return html`<h1>Keys and members</h1>
    <p>
      Of ${workspaceLink(workspace)}. The <a href="/audit?workspace=${workspace.id}">audit log</a> has who
      changed them.
    </p>
    <h2>API keys</h2>
    ${keys.length === 0 ? html`<p class="quiet">None: nobody can send anything.</p>` : keysTable(keys)}
    <h2>Members</h2>
    ${membersTable(workspace, members)}`;
}

function keysTable(keys: readonly ApiKey[]): Html {
  const row = ({ displayName, role, secretHint, createdAt, lastUsedAt }: ApiKey): Html =>
    html`<tr>
      <td class="wrap first"><bdi>${displayName}</bdi></td>
      <td>${role}</td>
      <td>${secretHint}</td>
      <td data-label="Created (UTC)">${time(createdAt)}</td>
      <td data-label="Last used (UTC)">${time(lastUsedAt)}</td>
    </tr>`;
  return table(['Name', 'Role', 'Secret', 'Created (UTC)', 'Last used (UTC)'], keys.map(row));
}

function membersTable({ id }: Workspace, found: Page<Member>): Html {
  const row = ({ email, name, role, createdAt }: Member): Html =>
    html`<tr>
      <td class="wrap first"><bdi>${email}</bdi></td>
      <td class="name"><bdi>${name}</bdi></td>
      <td>${role}</td>
      <td data-label="Joined (UTC)">${time(createdAt)}</td>
    </tr>`;
  const columns = ['Address', 'Name', 'Role', 'Joined (UTC)'];
  return resultsTable({ criteria: {}, found }, { path: `/workspaces/${id}/access`, columns, row });
}
