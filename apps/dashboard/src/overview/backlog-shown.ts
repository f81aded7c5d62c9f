import { EVERY_LANE } from '@posthorn/domain';
import {
  type BusyLane,
  type LanesHeldBack,
  MOST_ROWS_COUNTED,
  type PausedLane,
  type QueueBacklog,
} from '@posthorn/database';
import { html, type Html } from '../pages/html.ts';
import { table, time } from '../pages/parts.ts';

/** Work that is due waits this long before it looks wrong. */
const LATE_SECONDS = 60;
const QUEUE_NAMES: Readonly<Record<string, string>> = {
  email: 'Emails',
  event: 'Events to be fanned out',
  webhook: 'Deliveries to webhooks',
};

/** What waits in each queue. */
export function backlogTable(backlog: readonly QueueBacklog[]): Html {
  const row = ({ queue, dueLanes, due, leased, oldestDueSeconds }: QueueBacklog): Html =>
    html`<tr>
      <td>${QUEUE_NAMES[queue] ?? queue}</td>
      <td class="n">${due}</td>
      <td class="n">${dueLanes}</td>
      <td class="n">${leased}</td>
      ${oldestDueCell(oldestDueSeconds)}
    </tr>`;
  const numbers = ['Due', 'Lanes', 'In hand', 'Oldest due'];
  return table(['Queue', ...numbers], backlog.map(row), numbers);
}

/** The lanes with the most due; nothing where nothing is. */
export function lanesTable(lanes: readonly BusyLane[]): Html {
  if (lanes.length === 0) return html``;
  const row = ({ queue, laneId, due, oldestDueSeconds, isHeldBack }: BusyLane): Html =>
    html`<tr>
      <td>${laneId}</td>
      <td>${QUEUE_NAMES[queue] ?? queue}</td>
      <td class="n">${due === MOST_ROWS_COUNTED ? `${due} or more` : due}</td>
      ${oldestDueCell(oldestDueSeconds)}
      <td>${isHeldBack ? 'held back' : ''}</td>
    </tr>`;
  return html`<h2>Lanes with the most due</h2>
    ${table(['Lane', 'Queue', 'Due', 'Oldest due', 'State'], lanes.map(row), ['Due', 'Oldest due'])}`;
}

function oldestDueCell(seconds: number): Html {
  return html`<td class="n ${seconds > LATE_SECONDS ? 'bad' : ''}">${Math.round(seconds)} s</td>`;
}

/** What is held back, since when and why. */
export function heldBackTable({ items, hasMore }: LanesHeldBack): Html {
  if (items.length === 0) return html`<p class="quiet">Nothing.</p>`;
  const row = ({ queue, laneId, reason, pausedAt }: PausedLane): Html =>
    html`<tr>
      <td>${queue}</td>
      <td>${laneId === EVERY_LANE ? 'everything' : laneId}</td>
      <td>${reason}</td>
      <td>${time(pausedAt)}</td>
    </tr>`;
  const more = html`<p class="quiet">
    And more; webhooks are found by their status:
    <a href="/webhooks?status=PAUSED">PAUSED</a>, <a href="/webhooks?status=DISABLED">DISABLED</a>.
  </p>`;
  return html`${table(['Queue', 'Lane', 'Why', 'Since (UTC)'], items.map(row))} ${hasMore ? more : ''}`;
}
