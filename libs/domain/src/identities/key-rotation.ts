import { type KeyProof, keyProofAfter, UNPUBLISHED } from './key-proof.ts';
import type { KeyStage } from './key-stage.ts';
import type { RecordState } from './record-state.ts';

const SECOND_MS = 1_000;
const HOUR_MS = 3_600_000;

export const KEY_ROTATION = {
  /** The time between the check that first finds a new key and the switch to it, so that all name servers of the domain have it. */
  propagationMs: HOUR_MS,
  /** How long the record of an old key must stay: longer than relays retry (RFC 5321, section 4.5.4.1: four to five days). */
  overlapMs: 7 * 24 * HOUR_MS,
} as const;

/** A key, with everything that a rotation depends on. */
export interface StagedKey extends KeyProof {
  readonly id: string;
  readonly algorithm: 'rsa' | 'ed25519';
  readonly stage: KeyStage;
  /** When it was replaced; null: it was not. */
  readonly retiredAtMs: number | null;
}

/** The result of a request to rotate keys. */
export type Rotation =
  /** A rotation is under way already. */
  | { readonly kind: 'under_way' }
  /** The records of the previous keys must stay until then. */
  | { readonly kind: 'too_early'; readonly untilMs: number }
  /** The initial stage of the new key of each algorithm, and the old keys to delete. */
  | {
      readonly kind: 'begin';
      readonly stages: Readonly<Record<StagedKey['algorithm'], 'NEXT' | 'CURRENT'>>;
      readonly dropped: readonly string[];
    };

/** Decides a request to rotate keys. A key that does not sign is replaced at once; one that signs gets a successor. */
export function decideRotation(keys: readonly StagedKey[], nowMs: number): Rotation {
  if (keys.some(({ stage, algorithm }) => stage === 'NEXT' && algorithm === 'rsa'))
    return { kind: 'under_way' };
  const untilMs = Math.max(...keys.map((key) => keepUntilMs(key) ?? 0), 0);
  if (untilMs > nowMs) return { kind: 'too_early', untilMs };
  const kept = keys.filter(({ stage, publishedAtMs }) => stage === 'CURRENT' && publishedAtMs !== null);
  const stageOf = (algorithm: StagedKey['algorithm']): 'NEXT' | 'CURRENT' =>
    kept.some((key) => key.algorithm === algorithm) ? 'NEXT' : 'CURRENT';
  return {
    kind: 'begin',
    stages: { rsa: stageOf('rsa'), ed25519: stageOf('ed25519') },
    dropped: keys.filter((key) => !kept.includes(key)).map(({ id }) => id),
  };
}

/** Until when the record of a key must stay; null: for as long as the key is in use. */
export function keepUntilMs({ retiredAtMs }: Pick<StagedKey, 'retiredAtMs'>): number | null {
  return retiredAtMs === null ? null : retiredAtMs + KEY_ROTATION.overlapMs;
}

/**
 * The keys of a domain after a check of their records: a next key that has been published for long enough becomes the current one, and the
 * current one the previous; at once if the record of the current one is gone, because there is nothing to lose. A previous key is deleted
 * when its time is over and its record is gone.
 *
 * @param stateOf the state of a key's record
 */
export function keysAfterCheck<Key extends StagedKey>(
  keys: readonly Key[],
  stateOf: (key: Key) => RecordState,
  nowMs: number,
): Key[] {
  const checked = keys.map((key) => ({ ...key, ...proofAfter(key, stateOf(key), nowMs) }));
  const promoted = checked.filter((next) => next.stage === 'NEXT' && mayPromote(next));
  return checked.flatMap((key) =>
    afterSwitch(
      key,
      promoted.some(({ algorithm }) => algorithm === key.algorithm),
    ),
  );

  function mayPromote(next: Key): boolean {
    if (next.publishedAtMs === null || stateOf(next) !== 'FOUND') return false;
    const current = checked.find(
      ({ stage, algorithm }) => stage === 'CURRENT' && algorithm === next.algorithm,
    );
    const hasNoRecord = current === undefined || current.publishedAtMs === null || isGone(stateOf(current));
    return hasNoRecord || nowMs - next.publishedAtMs >= KEY_ROTATION.propagationMs;
  }

  function afterSwitch(key: Key, isReplaced: boolean): Key[] {
    if (key.stage === 'NEXT') return [isReplaced ? { ...key, stage: 'CURRENT' } : key];
    if (key.stage === 'PREVIOUS') {
      const isOver = keepUntilMs(key)! <= nowMs && isGone(stateOf(key));
      return isReplaced || isOver ? [] : [key];
    }
    return [isReplaced ? { ...key, ...UNPUBLISHED, stage: 'PREVIOUS', retiredAtMs: nowMs } : key];
  }
}

/** Wrong answers are tolerated for keys that sign; the record of a next key must be found at every check. */
function proofAfter(key: StagedKey, state: RecordState, nowMs: number): KeyProof {
  if (key.stage === 'PREVIOUS' || (key.stage === 'NEXT' && isGone(state))) return UNPUBLISHED;
  return keyProofAfter(key, state, nowMs);
}

function isGone(state: RecordState): boolean {
  return state === 'MISSING' || state === 'WRONG';
}

/** The delay until a published next key may become current, in seconds; null: there is none. */
export function propagatedAfterSeconds(keys: readonly StagedKey[], nowMs: number): number | null {
  const times = keys.flatMap(({ stage, publishedAtMs }) =>
    stage === 'NEXT' && publishedAtMs !== null ? [publishedAtMs + KEY_ROTATION.propagationMs - nowMs] : [],
  );
  return times.length === 0 ? null : Math.max(1, Math.ceil(Math.min(...times) / SECOND_MS));
}

/** A message for people about the record of a key that is not current; undefined: the finding says enough. */
export function stageMessage(
  stage: KeyStage,
  state: RecordState,
  keepUntil: Date | null,
  nowMs: number,
): string | undefined {
  if (stage === 'NEXT' && state === 'FOUND') {
    return 'The key is published; emails are signed with it from an hour after it was first found';
  }
  if (stage !== 'PREVIOUS' || keepUntil === null) return undefined;
  if (keepUntil.getTime() <= nowMs) return 'Nothing needs this record any more; it may be removed';
  const until = keepUntil.toISOString();
  return isGone(state)
    ? `The record was removed; until ${until} emails that are still on their way may fail to verify without it`
    : `Leave the record until ${until}: emails that were signed with its key are still on their way`;
}
