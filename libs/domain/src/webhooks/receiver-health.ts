const DAY_MS = 24 * 60 * 60 * 1_000;
/** How long a webhook must have had nothing but failures before its workspace is warned, and before it is disabled. */
const WARNED_AFTER_MS = 3 * DAY_MS;
const DISABLED_AFTER_MS = 5 * DAY_MS;
/** Minimum time between warning and disabling: after a long outage of ours, both could become due at once. */
const WARNED_BEFORE_MS = DAY_MS;

/** What is known about a webhook's receiver. */
export interface ReceiverHealth {
  /** The first failure since the last success; null: there was none. */
  readonly failingSince: Date | null;
  /** When its workspace was warned of the failures. */
  readonly warnedAt: Date | null;
  /** Whether it is slow to answer. */
  readonly isSlow: boolean;
}

/** What POSTs to a receiver have shown. */
export interface ReceiverObservation {
  /** `awaited`: there is no answer yet, which shows only that the receiver is slow. */
  readonly effect: 'succeeded' | 'failed' | 'gone' | 'awaited';
  /** Whether it was slow: no connection, no answer in time, a late one, or one that asks for fewer requests. */
  readonly isSlow: boolean;
}

/** Why the editors of a workspace get a notice about a webhook. */
export type WebhookNotice =
  /** Nothing but failures for three days; it will be disabled after five. */
  | 'FAILING'
  /** Disabled: its receiver answered 410, so it is gone permanently. */
  | 'DISABLED_GONE'
  /** Disabled after five days of nothing but failures. */
  | 'DISABLED_FAILING';

/** The change of a webhook that results from an observation. */
export interface ReceiverChange {
  readonly health: ReceiverHealth;
  /** The notice to its workspace; any but FAILING also disables the webhook. */
  readonly notice?: WebhookNotice;
}

/** The change of an active webhook after an observation; undefined: none. */
export function changeAfter(
  health: ReceiverHealth,
  { effect, isSlow }: ReceiverObservation,
  now: Date,
): ReceiverChange | undefined {
  if (effect === 'awaited') return health.isSlow ? undefined : { health: { ...health, isSlow: true } };
  if (effect === 'succeeded') {
    const isKnown = health.failingSince === null && isSlow === health.isSlow;
    return isKnown ? undefined : { health: { failingSince: null, warnedAt: null, isSlow } };
  }
  // Only a fast success ends slowness: a receiver that fails fast may still be about to hang.
  const failing = { ...health, failingSince: health.failingSince ?? now, isSlow: isSlow || health.isSlow };
  if (effect === 'gone') return { health: failing, notice: 'DISABLED_GONE' };
  return afterFailure(health, failing, now);
}

function afterFailure(
  { failingSince, warnedAt, isSlow }: ReceiverHealth,
  failing: ReceiverHealth,
  now: Date,
): ReceiverChange | undefined {
  if (hasPassed(WARNED_AFTER_MS, failingSince, now) && warnedAt === null)
    return { health: { ...failing, warnedAt: now }, notice: 'FAILING' };
  if (hasPassed(DISABLED_AFTER_MS, failingSince, now) && hasPassed(WARNED_BEFORE_MS, warnedAt, now))
    return { health: failing, notice: 'DISABLED_FAILING' };
  const isKnown = failingSince !== null && failing.isSlow === isSlow;
  return isKnown ? undefined : { health: failing };
}

/** Merges observations of one receiver: gone if it ever said so, otherwise succeeded if it ever did. */
export function mergeObservations(observations: readonly ReceiverObservation[]): ReceiverObservation {
  const effects = observations.map(({ effect }) => effect);
  const effect = (['gone', 'succeeded', 'failed', 'awaited'] as const).find((one) => effects.includes(one))!;
  return { effect, isSlow: observations.every(({ isSlow }) => isSlow) };
}

function hasPassed(ms: number, since: Date | null, now: Date): boolean {
  return since !== null && now.getTime() - since.getTime() >= ms;
}
