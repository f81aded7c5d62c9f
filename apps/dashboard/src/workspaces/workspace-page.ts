import {
  type BusyLane,
  type FoundWebhook,
  type IdentityWithRecords,
  MAX_ROWS_COUNTED,
  type PausedLane,
  type Workspace,
} from '@posthorn/database';
import type { ReadUsage } from '@posthorn/use-cases';
import { lanesTable } from '../overview/backlog-tables.ts';
import { count, facts, formatDuration, table, time, timeInUtc } from '../pages/components.ts';
import { html, type Html } from '../pages/html.ts';
import { sendersTable } from './senders-page.ts';

/** A workspace with all that its page shows. */
export interface ShownWorkspace {
  readonly workspace: Workspace;
  /** Undefined: it is not being deleted. */
  readonly deletionBegunAt: Date | undefined;
  readonly usage: Awaited<ReturnType<ReadUsage['read']>>;
  /** The pause of its emails, or of all emails; undefined: there is none. */
  readonly pause: PausedLane | undefined;
  /** What is due in the lanes of its emails and events. */
  readonly lanes: readonly BusyLane[];
  readonly identities: FirstOf<IdentityWithRecords>;
  readonly webhooks: FirstOf<FoundWebhook>;
  /** What is due to these webhooks, in the same order. */
  readonly dueToWebhooks: readonly BusyLane[];
}

interface FirstOf<Item> {
  readonly items: readonly Item[];
  readonly hasMore: boolean;
}

/** The page of a workspace: its limits, its senders, and what waits. */
export function workspacePage(shown: ShownWorkspace): Html {
  const { workspace, lanes, identities, webhooks } = shown;
  const query = `workspace=${workspace.id}`;
  return html`<h1><bdi>${workspace.name}</bdi></h1>
    ${factsOf(shown)}
    <p>
      <a href="/emails?${query}">Emails</a> · <a href="/emails?status=NOT_LEFT&${query}">not left yet</a> ·
      <a href="/emails?status=FAILED&${query}">failed</a> ·
      <a href="/emails?status=BOUNCED&${query}">bounced</a> ·
      <a href="/workspaces/${workspace.id}/days">by day</a> ·
      <a href="/workspaces/${workspace.id}/access">Keys and members</a> ·
      <a href="/suppressions?${query}">Suppressions</a> · <a href="/retries?${query}">Retries</a> ·
      <a href="/pauses?${query}">Pause</a> · <a href="/audit?${query}">Audit log</a>
    </p>
    <h2>Senders</h2>
    ${identities.items.length === 0 ? html`<p class="quiet">None: it cannot send anything yet.</p>` : sendersTable(identities.items)}
    ${identities.hasMore ? html`<p><a href="/workspaces/${workspace.id}/senders">All senders</a></p>` : ''}
    <h2>What is due in its lanes</h2>
    ${lanesTable(lanes)}
    <h2>Webhooks</h2>
    ${webhooksTable(shown)}
    ${webhooks.hasMore ? html`<p><a href="/webhooks?${query}">All webhooks</a></p>` : ''}`;
}

function factsOf({ workspace, deletionBegunAt, usage, pause }: ShownWorkspace): Html {
  const { id, createdAt, trackingUrl, recordsAllEvents } = workspace;
  return facts({
    'Id': id,
    'Created': createdAt,
    'Being deleted since': deletionBegunAt,
    'Paused': pause && pauseText(pause),
    'Emails this month': `${count(usage.used)} of ${usage.limit === null ? 'any number' : count(usage.limit)}, until ${usage.resetsAt.toISOString().slice(0, 10)}`,
    'Requests a second for each key': ownText(workspace.ratePerSecond),
    'Requests at once': ownText(workspace.rateBurst),
    'Content kept': daysText(workspace.contentDays),
    'Emails kept': daysText(workspace.metadataDays),
    'Events kept': daysText(workspace.eventDays),
    'Tracked links at': trackingUrl ?? 'as the installation',
    'Events of emails': recordsAllEvents ? 'all are recorded' : 'those that a webhook is subscribed to',
  });
}

function pauseText({ reason, pausedAt }: PausedLane): Html {
  return html`since ${timeInUtc(pausedAt)}: <a href="/pauses">“<bdi>${reason}</bdi>”</a>`;
}

function ownText(limit: number | null): string {
  if (limit === null) return 'as the installation';
  return limit === 0 ? 'no limit' : count(limit);
}

function daysText(days: number | null): string {
  return days === null ? 'as the installation' : `${count(days)} d`;
}

function webhooksTable({ webhooks, dueToWebhooks }: ShownWorkspace): Html {
  if (webhooks.items.length === 0) return html`<p class="quiet">None.</p>`;
  const row = (webhook: FoundWebhook, n: number): Html => {
    const { due, oldestDueSeconds } = dueToWebhooks[n]!;
    return html`<tr>
      <td class="wrap first"><a class="cut" href="/webhooks/${webhook.id}">${webhook.url}</a></td>
      <td class="${webhook.status === 'DISABLED' ? 'bad' : ''}">${webhook.status}</td>
      <td class="${webhook.failingSince === null ? '' : 'bad'}" data-label="Failing since (UTC)">
        ${time(webhook.failingSince)}
      </td>
      <td>${webhook.isSlow ? 'slow' : ''}</td>
      <td class="n" data-label="Due">${count(due)}${due === MAX_ROWS_COUNTED ? ' or more' : ''}</td>
      <td class="n" data-label="Oldest due">${formatDuration(oldestDueSeconds)}</td>
    </tr>`;
  };
  const columns = ['URL', 'Status', 'Failing since (UTC)', 'Receiver', 'Due', 'Oldest due'];
  return table(columns, webhooks.items.map(row), ['Due', 'Oldest due']);
}
