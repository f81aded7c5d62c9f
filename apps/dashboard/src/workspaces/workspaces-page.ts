import type { Workspace } from '@posthorn/database';
import { faultAlert, time } from '../pages/components.ts';
import { field } from '../pages/fields.ts';
import { html, type Html } from '../pages/html.ts';
import { resultsTable, searchForm } from '../pages/search-components.ts';
import type { SearchResult } from '../pages/search.ts';

/** The fields of the search for workspaces. */
export const WORKSPACE_FIELDS = ['name'] as const;

/** The search for workspaces and its results. */
export function workspacesPage(shown: SearchResult<(typeof WORKSPACE_FIELDS)[number], Workspace>): Html {
  const { criteria, fault } = shown;
  const row = ({ id, name, createdAt }: Workspace): Html =>
    html`<tr>
      <td data-label="Created (UTC)">${time(createdAt)}</td>
      <td class="name first">
        <a href="/workspaces/${id}"><bdi>${name}</bdi></a>
      </td>
      <td class="wrap">${id}</td>
    </tr>`;
  const columns = ['Created (UTC)', 'Name', 'Id'];
  return html`<h1>Workspaces</h1>
    ${searchForm('/workspaces', [field('name', 'Part of the name, or id', { value: criteria.name })])}
    <p class="quiet">Newest first.</p>
    ${faultAlert(fault)} ${resultsTable(shown, { path: '/workspaces', columns, row })}`;
}
