import { WEBHOOK_STATUSES } from '@posthorn/domain';
import type { FoundWebhook } from '@posthorn/database';
import { html, type Html } from '../pages/html.ts';
import { choice } from '../pages/fields.ts';
import { faultAlert, time } from '../pages/components.ts';
import { resultsTable, searchForm } from '../pages/search-components.ts';
import type { SearchResult } from '../pages/search.ts';
import { type PageWorkspaces, workspaceCell, workspaceField } from '../pages/workspaces.ts';
import { RECEIVERS, type WEBHOOK_FIELDS } from './webhook-search.ts';

interface WebhooksPageData extends SearchResult<(typeof WEBHOOK_FIELDS)[number], FoundWebhook> {
  readonly workspaces: PageWorkspaces;
}

/** The search for webhooks and its results. */
export function webhooksPage(shown: WebhooksPageData): Html {
  const { criteria, fault, workspaces } = shown;
  const { nameOf, suggested } = workspaces;
  const row = (webhook: FoundWebhook): Html =>
    html`<tr>
      <td data-label="Created (UTC)">${time(webhook.createdAt)}</td>
      <td class="${webhook.status === 'DISABLED' ? 'bad' : ''}">${webhook.status}</td>
      <td class="wrap first"><a class="cut" href="/webhooks/${webhook.id}">${webhook.url}</a></td>
      ${workspaceCell(webhook.workspaceId, nameOf)}
      <td class="${webhook.failingSince === null ? '' : 'bad'}" data-label="Failing since (UTC)">
        ${time(webhook.failingSince)}
      </td>
      <td>${webhook.isSlow ? 'slow' : ''}</td>
    </tr>`;
  const columns = ['Created (UTC)', 'Status', 'URL', 'Workspace', 'Failing since (UTC)', 'Receiver'];
  const fields = [
    workspaceField(criteria.workspace, suggested),
    choice('status', 'Status', { words: Object.keys(WEBHOOK_STATUSES), value: criteria.status }),
    choice('receiver', 'Receiver', { words: Object.keys(RECEIVERS), value: criteria.receiver }),
  ];
  return html`<h1>Webhooks</h1>
    ${searchForm('/webhooks', fields)} ${faultAlert(fault)}
    <p class="quiet">Newest first.</p>
    ${resultsTable(shown, { path: '/webhooks', columns, row })}`;
}
