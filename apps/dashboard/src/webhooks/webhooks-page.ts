import { type Page, WEBHOOK_STATUSES } from '@posthorn/domain';
import type { FoundWebhook, Workspace } from '@posthorn/database';
import { html, type Html } from '../pages/html.ts';
import { choice, foundTable, nextPage, time, workspaceField } from '../pages/parts.ts';
import type { Searched } from '../pages/searched.ts';
import { RECEIVERS, type WEBHOOK_FIELDS } from './webhook-search.ts';

interface Found extends Searched<(typeof WEBHOOK_FIELDS)[number], Page<FoundWebhook>> {
  readonly workspaces: readonly Workspace[];
}

/** The search for webhooks, and what it has found. */
export function webhooksPage({ asked, found, fault, workspaces }: Found): Html {
  const names = new Map(workspaces.map(({ id, name }) => [id, name]));
  const row = (webhook: FoundWebhook): Html =>
    html`<tr>
      <td>${time(webhook.createdAt)}</td>
      <td class="${webhook.status === 'DISABLED' ? 'bad' : ''}">${webhook.status}</td>
      <td class="wrap"><a class="cut" href="/webhooks/${webhook.id}">${webhook.url}</a></td>
      <td>${names.get(webhook.workspaceId) ?? webhook.workspaceId}</td>
      <td class="${webhook.failingSince === null ? '' : 'bad'}">${time(webhook.failingSince)}</td>
      <td>${webhook.isSlow ? 'slow' : ''}</td>
    </tr>`;
  const columns = ['Created (UTC)', 'Status', 'URL', 'Workspace', 'Failing since (UTC)', 'Receiver'];
  return html`<h1>Webhooks</h1>
    <form class="search" method="get" action="/webhooks" role="search">
      ${workspaceField(asked.workspace, workspaces)}
      ${choice('status', 'Status', { words: Object.keys(WEBHOOK_STATUSES), value: asked.status })}
      ${choice('receiver', 'Receiver', { words: Object.keys(RECEIVERS), value: asked.receiver })}
      <div><button>Search</button></div>
    </form>
    ${fault === undefined ? '' : html`<p class="bad" role="alert">${fault}.</p>`}
    <p class="quiet">The newest first.</p>
    ${foundTable(columns, found, row)} ${nextPage('/webhooks', asked, found?.startAt ?? null)}`;
}
