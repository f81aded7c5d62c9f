import { advice, durationText, fault, type Finding, good } from './finding.ts';

/** No more due rows of a queue are counted. */
export const MAX_DUE_COUNTED = 100_000;

/** The due rows of a queue of the outbox. */
interface QueueDue {
  readonly queue: 'email' | 'event' | 'webhook';
  readonly due: number;
  /** Those in progress, too; apart from what is paused, and from deliveries to slow receivers. */
  readonly oldestDueSeconds: number;
}

/** Due and leased rows of the outbox. */
export interface DueFacts {
  readonly backlog: readonly QueueDue[];
  /** For how long the oldest waiting row has been due without being made ready. */
  readonly overdueSeconds: number;
  readonly leasedAndExpired: number;
}

/** Work that has been due for longer is late. */
export const LATE_SECONDS = 60;
const VERY_LATE_SECONDS = 15 * 60;

const MEND_EVENTS =
  'check that dispatchers are running, and whether receivers answer; see docs/runbooks/events-wait.md';
const QUEUES_OF_OUTBOX = {
  email: {
    noun: 'emails',
    mend: 'check that senders are running, and what the relay says; see docs/runbooks/emails-wait.md',
  },
  event: { noun: 'events', mend: MEND_EVENTS },
  webhook: { noun: 'deliveries', mend: MEND_EVENTS },
};

/** Whether due rows are processed in time. */
export function judgeBacklog({ backlog }: DueFacts): Finding {
  const oldestDueSeconds = Math.max(0, ...backlog.map((queue) => queue.oldestDueSeconds));
  const counts = backlog
    .map(
      ({ queue, due }) =>
        `${QUEUES_OF_OUTBOX[queue].noun}: ${due}${due === MAX_DUE_COUNTED ? ' or more' : ''}`,
    )
    .join(', ');
  const found = `due ${counts}; the oldest, in progress or not, apart from what is paused and deliveries to slow receivers, for ${durationText(oldestDueSeconds)}`;
  const late = backlog.filter((queue) => queue.oldestDueSeconds >= LATE_SECONDS);
  if (late.length === 0) return good(found);
  const mend = [...new Set(late.map(({ queue }) => QUEUES_OF_OUTBOX[queue].mend))].join('; ');
  return oldestDueSeconds >= VERY_LATE_SECONDS ? fault(found, mend) : advice(found, mend);
}

/** Whether there are rows that a running scheduler would have made ready or released by now. */
export function judgeLeases({ leasedAndExpired, overdueSeconds }: DueFacts): Finding {
  const mend = 'start a scheduler: it makes due rows ready and frees those of processes that died';
  if (overdueSeconds > LATE_SECONDS)
    return fault(`rows have been due for ${durationText(overdueSeconds)} and were not made ready`, mend);
  if (leasedAndExpired > 0)
    return fault(`${leasedAndExpired} rows are held by processes that died more than a minute ago`, mend);
  return good('no row is held by a process that died');
}

/** @param seconds since the last heartbeat of a scheduler */
export function judgeScheduler(seconds: number): Finding {
  return seconds < 5 * 60
    ? good(`a scheduler was at work ${durationText(Math.max(seconds, 0))} ago`)
    : fault(
        `no scheduler has reported for ${durationText(seconds)}`,
        'start one, and check that it reaches Redis: its regular jobs come from there',
      );
}

/** A relay, as the running senders see it. */
interface RelayState {
  readonly relay: string;
  readonly senders: number;
  /** How many of the senders it takes emails from. */
  readonly up: number;
  /** What the relay said to one that it refuses, or why that cannot reach it. */
  readonly reason: string | null;
}

/** Whether senders are running, and can send. The check of the relay itself ends before any command about an email. */
export function judgeSenders(relays: readonly RelayState[]): Finding {
  if (relays.length === 0)
    return fault(
      'no sender has reported within a minute: emails wait',
      'start one, and check that it reaches the database',
    );
  const down = relays.filter(({ senders, up }) => up < senders);
  if (down.length === 0) return good('every sender can send');
  const texts = down.map(
    ({ relay, senders, up, reason }) =>
      `${relay} (${senders - up} of ${senders}${reason === null ? '' : `; ${reason}`})`,
  );
  const found = `senders that a relay refuses, or that cannot reach it: ${texts.join(', ')}`;
  const mend = 'see docs/runbooks/relay-refuses.md';
  return relays.some(({ up }) => up > 0)
    ? advice(`${found}; emails leave through the other senders or relays`, mend)
    : fault(`${found}; emails wait`, mend);
}
