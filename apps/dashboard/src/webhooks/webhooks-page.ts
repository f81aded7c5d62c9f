import { WEBHOOK_STATUSES } from '@posthorn/domain';
import type { FoundWebhook, Workspace } from '@posthorn/database';
import { html, type Html } from '../pages/html.ts';
import { choice } from '../pages/fields.ts';
import { faultAlert, time } from '../pages/parts.ts';
import { foundTable, searchForm } from '../pages/search-shown.ts';
import type { Searched } from '../pages/searched.ts';
import { workspaceCell, workspaceField, workspaceNames } from '../pages/workspaces.ts';
import { RECEIVERS, type WEBHOOK_FIELDS } from './webhook-search.ts';

interface Found extends Searched<(typeof WEBHOOK_FIELDS)[number], FoundWebhook> {
  readonly workspaces: readonly Workspace[];
}

/** The search for webhooks, and what it has found. */
export function webhooksPage(shown: Found): Html {
  const { asked, fault, workspaces } = shown;
  const nameOf = workspaceNames(workspaces);
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
    workspaceField(asked.workspace, workspaces),
    choice('status', 'Status', { words: Object.keys(WEBHOOK_STATUSES), value: asked.status }),
    choice('receiver', 'Receiver', { words: Object.keys(RECEIVERS), value: asked.receiver }),
  ];
  return html`<h1>Webhooks</h1>
    ${searchForm('/webhooks', fields)} ${faultAlert(fault)}
    <p class="quiet">The newest first.</p>
    ${foundTable(shown, { path: '/webhooks', columns, row })}`;
}
