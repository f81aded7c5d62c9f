const DAY_MS = 24 * 60 * 60 * 1_000;
/** Of nothing but failures; what is done about it then. */
const WARNED_AFTER_MS = 3 * DAY_MS;
const DISABLED_AFTER_MS = 5 * DAY_MS;
/** Nobody is disabled who was not warned so long before: an outage of ours may have hidden the days in between. */
const WARNED_BEFORE_MS = DAY_MS;

/** What is known of a webhook's receiver. */
export interface ReceiverHealth {
  /** Since when there were only failures; null: none since the last success. */
  readonly failingSince: Date | null;
  /** When its workspace was warned of that. */
  readonly warnedAt: Date | null;
  /** Whether it keeps us waiting. */
  readonly isSlow: boolean;
}

/** What POSTs to a receiver showed. */
export interface ReceiverObservation {
  /** `awaited`: there is no answer yet, which says only that it keeps us waiting. */
  readonly effect: 'succeeded' | 'failed' | 'gone' | 'awaited';
  /** Whether it kept us waiting: no connection, no answer in time, or a late one. */
  readonly isSlow: boolean;
}

/** Why the editors of a workspace are told of a webhook. */
export type WebhookNotice =
  /** Nothing but failures for three days; it will be disabled after five. */
  | 'FAILING'
  /** Disabled: its receiver answered 410, so it is gone for good. */
  | 'DISABLED_GONE'
  /** Disabled after five days of nothing but failures. */
  | 'DISABLED_FAILING';

/** What becomes of a webhook by a lesson. */
export interface ReceiverChange {
  readonly health: ReceiverHealth;
  /** What its workspace is told; every one but FAILING disables it. */
  readonly notice?: WebhookNotice;
}

/** What a lesson changes about an active webhook; undefined: nothing. */
export function changeAfter(
  health: ReceiverHealth,
  { effect, isSlow }: ReceiverObservation,
  now: Date,
): ReceiverChange | undefined {
  if (effect === 'awaited') return health.isSlow ? undefined : { health: { ...health, isSlow: true } };
  // Only a success in time makes a slow one quick again: one that refuses quickly may be about to hang.
  const slow = effect === 'succeeded' ? isSlow : isSlow || health.isSlow;
  const { failingSince, warnedAt } = health;
  if (effect === 'succeeded') {
    if (failingSince === null && slow === health.isSlow) return undefined;
    return { health: { failingSince: null, warnedAt: null, isSlow: slow } };
  }
  const failing = { failingSince: failingSince ?? now, warnedAt, isSlow: slow };
  if (effect === 'gone') return { health: failing, notice: 'DISABLED_GONE' };
  if (hasPassed(WARNED_AFTER_MS, failingSince, now) && warnedAt === null)
    return { health: { ...failing, warnedAt: now }, notice: 'FAILING' };
  if (hasPassed(DISABLED_AFTER_MS, failingSince, now) && hasPassed(WARNED_BEFORE_MS, warnedAt, now))
    return { health: failing, notice: 'DISABLED_FAILING' };
  return failingSince === null || slow !== health.isSlow ? { health: failing } : undefined;
}

/** What several lessons of one receiver come to: it is gone if it ever said so, and not failing if it ever succeeded. */
export function mergeObservations(lessons: readonly ReceiverObservation[]): ReceiverObservation {
  const effects = lessons.map(({ effect }) => effect);
  const effect = (['gone', 'succeeded', 'failed', 'awaited'] as const).find((one) => effects.includes(one))!;
  return { effect, isSlow: lessons.every(({ isSlow }) => isSlow) };
}

function hasPassed(ms: number, since: Date | null, now: Date): boolean {
  return since !== null && now.getTime() - since.getTime() >= ms;
}
