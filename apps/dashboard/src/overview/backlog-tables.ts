import { parseId, type WorkspaceId } from '@posthorn/kernel';
import { EVERY_LANE, type LaneId, LATE_SECONDS, MAX_DUE_COUNTED, workspaceOfLane } from '@posthorn/domain';
import {
  type BusyLane,
  type FoundWebhook,
  type PausedLanes,
  MAX_ROWS_COUNTED,
  type PausedLane,
  type QueueBacklog,
  type WaitingRetries,
} from '@posthorn/database';
import { emailsNotLeft } from '../emails/email-search.ts';
import { html, type Html } from '../pages/html.ts';
import { count, formatDuration, table, time } from '../pages/components.ts';
import type { WorkspaceName } from '../pages/workspaces.ts';

/** Queues in the plural. */
export const QUEUE_NAMES: Readonly<Record<string, string>> = {
  email: 'Emails',
  event: 'Events to be fanned out',
  webhook: 'Deliveries to webhooks',
};

/** The backlog of each queue. What slow receivers keep waiting is not late. */
export function backlogTable(
  backlog: readonly QueueBacklog[],
  { byQueue: retries, hasMore }: WaitingRetries,
): Html {
  const row = ({ queue, dueLanes, due, leased, oldestDueSeconds }: QueueBacklog): Html =>
    html`<tr>
      <td class="first">${backlogName(queue)}</td>
      <td class="n" data-label="Due">${count(due)}${due === MAX_DUE_COUNTED ? ' or more' : ''}</td>
      <td class="n" data-label="Lanes">${count(dueLanes)}</td>
      <td class="n" data-label="In progress">${count(leased)}</td>
      ${oldestDueCell(oldestDueSeconds)}
      <td class="n" data-label="To be retried">${retriesText(retries.get(queue) ?? 0, hasMore)}</td>
    </tr>`;
  const numbers = ['Due', 'Lanes', 'In progress', 'Oldest due', 'To be retried'];
  return table(['Queue', ...numbers], backlog.map(row), numbers);
}

/** How many are to be retried, with a link to the page that hastens them, if there are any. */
function retriesText(retries: number, hasMore: boolean): Html {
  const text = `${count(retries)}${hasMore ? ' or more' : ''}`;
  return retries === 0 ? html`${text}` : html`<a href="/retries">${text}</a>`;
}

/** The name of a queue, with a link to what waits in it where there is a list of that. */
function backlogName(queue: QueueBacklog['queue']): Html {
  const name = QUEUE_NAMES[queue] ?? queue;
  return queue === 'email' ? html`<a href="${emailsNotLeft()}">${name}</a>` : html`${name}`;
}

/** What lanes are named by: the names of workspaces, and the URLs of webhooks. */
export interface LaneNames {
  readonly nameOf: WorkspaceName;
  /** Those of lanes of deliveries. */
  readonly webhooks: ReadonlyMap<string, FoundWebhook>;
}

/** Lanes with what is due in them. @param names absent: the page is about a single workspace, and none of its webhooks */
export function lanesTable(lanes: readonly BusyLane[], names?: LaneNames): Html {
  const row = ({ queue, laneId, due, oldestDueSeconds, isPaused, isSlow }: BusyLane): Html =>
    html`<tr>
      <td class="wrap first">${laneText(queue, laneId, names)}</td>
      <td>${QUEUE_NAMES[queue] ?? queue}</td>
      <td class="n" data-label="Due">${count(due)}${due === MAX_ROWS_COUNTED ? ' or more' : ''}</td>
      ${oldestDueCell(oldestDueSeconds)}
      <td>${isPaused ? 'paused' : isSlow ? 'slow receiver' : ''}</td>
    </tr>`;
  return table(['Lane', 'Queue', 'Due', 'Oldest due', 'State'], lanes.map(row), ['Due', 'Oldest due']);
}

function oldestDueCell(seconds: number): Html {
  return html`<td data-label="Oldest due" class="n ${seconds > LATE_SECONDS ? 'bad' : ''}">
    ${formatDuration(seconds)}
  </td>`;
}

/** A lane with a link to what waits in it, and the name of its workspace; that of a webhook by its URL. */
function laneText(queue: BusyLane['queue'], laneId: LaneId, names: LaneNames | undefined): Html {
  const workspaceId = workspaceOfLane(laneId);
  if (workspaceId !== undefined) {
    const name = names === undefined ? html`` : workspaceName(workspaceId, names);
    return queue === 'email'
      ? html`<a href="${emailsNotLeft(workspaceId)}">${laneId}</a> ${name}`
      : html`${laneId} ${name}`;
  }
  if (parseId('wh', laneId) === undefined) return html`${laneId}`;
  const webhook = names?.webhooks.get(laneId);
  const link = html`<a class="cut" href="/webhooks/${laneId}">${webhook?.url ?? laneId}</a>`;
  return webhook === undefined || names === undefined
    ? link
    : html`${link} ${workspaceName(webhook.workspaceId, names)}`;
}

function workspaceName(id: WorkspaceId, { nameOf }: LaneNames): Html {
  return html`<a href="/workspaces/${id}"><bdi>${nameOf(id)}</bdi></a>`;
}

/** The paused lanes, since when and why. */
export function pausedTable({ items, hasMore }: PausedLanes, names: LaneNames): Html {
  const actions = html`<p><a href="/pauses">Pause or resume</a></p>`;
  if (items.length === 0)
    return html`<p class="quiet">Nothing.</p>
      ${actions}`;
  const row = ({ queue, laneId, reason, pausedAt }: PausedLane): Html =>
    html`<tr>
      <td>${QUEUE_NAMES[queue] ?? queue}</td>
      <td class="wrap first">${laneId === EVERY_LANE ? 'everything' : laneText(queue, laneId, names)}</td>
      <td class="wrap"><bdi>${reason}</bdi></td>
      <td data-label="Since (UTC)">${time(pausedAt)}</td>
    </tr>`;
  const more = html`<p class="quiet">
    And more; webhooks are found by their status:
    <a href="/webhooks?status=PAUSED">PAUSED</a>, <a href="/webhooks?status=DISABLED">DISABLED</a>.
  </p>`;
  return html`${table(['Queue', 'Lane', 'Why', 'Since (UTC)'], items.map(row))} ${hasMore ? more : ''}
  ${actions}`;
}
