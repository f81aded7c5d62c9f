import { EVERY_LANE, LATE_SECONDS } from '@posthorn/domain';
import type { PausedLane, QueueBacklog, RelaySeen } from '@posthorn/database';
import { formatDuration, timeInUtc } from '../pages/components.ts';
import { html, type Html } from '../pages/html.ts';
import { QUEUE_NAMES } from './backlog-tables.ts';
import { stateOf } from './rate-charts.ts';

interface Observed {
  readonly isRedisUp: boolean;
  readonly relays: readonly RelaySeen[];
  readonly backlog: readonly QueueBacklog[];
  readonly paused: readonly PausedLane[];
}

/** What concerns the whole installation and is not as it should be, or that nothing is: somebody who was woken up reads this first. */
export function attention({ isRedisUp, relays, backlog, paused }: Observed): Html {
  const faults = [
    ...(isRedisUp ? [] : [REDIS_DOWN]),
    ...(relays.length === 0 ? [NO_SENDER] : relays.filter(({ up, senders }) => up < senders).map(relayDown)),
    ...paused.filter(({ laneId }) => laneId === EVERY_LANE).map(allPaused),
    ...backlog.filter(({ oldestDueSeconds }) => oldestDueSeconds > LATE_SECONDS).map(late),
  ];
  if (faults.length === 0)
    return html`<p class="done">
      Relays take emails, nothing is late, and no queue is paused. A single workspace or receiver may still
      have to wait: see below.
    </p>`;
  return html`<div class="card">
    ${faults.map((fault) => html`<p class="bad" role="alert">${fault}</p>`)}
  </div>`;
}

/** Nothing else of the page shows it: what is read from the database looks as if the workers were slow. */
const REDIS_DOWN = html`Redis does not answer, so workers are not told of new work. What is accepted is in the
database, and leaves within seconds of its return.`;

const NO_SENDER = html`No sender has reported its relays in the last minute: none is running, or none reaches
the database. Emails wait until one does.`;

function relayDown({ relay, up, senders, reason }: RelaySeen): Html {
  return html`The relay ${relay}
  ${stateOf(up, senders)}${reason === null ? '' : html`: <bdi>${reason}</bdi>`}.`;
}

function allPaused({ queue, reason, pausedAt }: PausedLane): Html {
  return html`${QUEUE_NAMES[queue] ?? queue}: all are paused since ${timeInUtc(pausedAt)}:
    <a href="/pauses">“<bdi>${reason}</bdi>”</a>`;
}

function late({ queue, oldestDueSeconds }: QueueBacklog): Html {
  return html`${QUEUE_NAMES[queue] ?? queue}: the oldest that is due has waited for
  ${formatDuration(oldestDueSeconds)}.`;
}
