import { type KeyProof, keyProofAfter, UNPUBLISHED } from './key-proof.ts';
import type { KeyStage } from './key-stage.ts';
import type { RecordState } from './record-verdict.ts';

const SECOND_MS = 1_000;
const HOUR_MS = 3_600_000;

export const KEY_ROTATION = {
  /** Between the first look that finds a new key and the switch to it, so that all name servers of a domain have heard of it. */
  settlesMs: HOUR_MS,
  /** How long the record of an old key must stay: longer than relays keep trying (RFC 5321, section 4.5.4.1: four to five days). */
  overlapMs: 7 * 24 * HOUR_MS,
} as const;

/** A key with all that a rotation depends on. */
export interface StagedKey extends KeyProof {
  readonly id: string;
  readonly algorithm: 'rsa' | 'ed25519';
  readonly stage: KeyStage;
  /** When another one took its place; null: none has. */
  readonly retiredAtMs: number | null;
}

/** What a call that asks for other keys leads to. */
export type Rotation =
  /** New keys are waited for already. */
  | { readonly kind: 'under_way' }
  /** The records of the keys before must stay until then. */
  | { readonly kind: 'too_early'; readonly untilMs: number }
  /** At which stage the new key of each algorithm begins; keys of before that are named here go. */
  | {
      readonly kind: 'begin';
      readonly stages: Readonly<Record<StagedKey['algorithm'], 'NEXT' | 'CURRENT'>>;
      readonly dropped: readonly string[];
    };

/** Decides upon a call that asks for other keys. A key that nothing is signed with is replaced at once; another one is followed. */
export function decideRotation(keys: readonly StagedKey[], nowMs: number): Rotation {
  if (keys.some(({ stage, algorithm }) => stage === 'NEXT' && algorithm === 'rsa'))
    return { kind: 'under_way' };
  const untilMs = Math.max(...keys.map((key) => keepUntilMs(key) ?? 0), 0);
  if (untilMs > nowMs) return { kind: 'too_early', untilMs };
  const stays = keys.filter(({ stage, publishedAtMs }) => stage === 'CURRENT' && publishedAtMs !== null);
  const stageOf = (algorithm: StagedKey['algorithm']): 'NEXT' | 'CURRENT' =>
    stays.some((key) => key.algorithm === algorithm) ? 'NEXT' : 'CURRENT';
  return {
    kind: 'begin',
    stages: { rsa: stageOf('rsa'), ed25519: stageOf('ed25519') },
    dropped: keys.filter((key) => !stays.includes(key)).map(({ id }) => id),
  };
}

/** Until when the record of a key must stay; null while it is not to be taken away at all. */
export function keepUntilMs({ retiredAtMs }: Pick<StagedKey, 'retiredAtMs'>): number | null {
  return retiredAtMs === null ? null : retiredAtMs + KEY_ROTATION.overlapMs;
}

/**
 * What a look at their records means for the keys of a domain: a next key that has settled becomes the current one, and the current one the
 * previous. At once, where the current one has no record any more: there is nothing to lose. A previous key is forgotten when its time
 * is over and its record gone.
 *
 * @param stateOf what the look found of a key's record
 * @returns the keys as they are from now on
 */
export function keysAfterLook<Key extends StagedKey>(
  keys: readonly Key[],
  stateOf: (key: Key) => RecordState,
  nowMs: number,
): Key[] {
  const looked = keys.map((key) => ({ ...key, ...proofAfter(key, stateOf(key), nowMs) }));
  const follows = looked.filter((next) => next.stage === 'NEXT' && mayFollow(next));
  return looked.flatMap((key) =>
    afterSwitch(
      key,
      follows.some(({ algorithm }) => algorithm === key.algorithm),
    ),
  );

  function mayFollow(next: Key): boolean {
    if (next.publishedAtMs === null || stateOf(next) !== 'FOUND') return false;
    const current = looked.find(
      ({ stage, algorithm }) => stage === 'CURRENT' && algorithm === next.algorithm,
    );
    const isLost = current === undefined || current.publishedAtMs === null || isGone(stateOf(current));
    return isLost || nowMs - next.publishedAtMs >= KEY_ROTATION.settlesMs;
  }

  function afterSwitch(key: Key, isFollowed: boolean): Key[] {
    if (key.stage === 'NEXT') return [isFollowed ? { ...key, stage: 'CURRENT' } : key];
    if (key.stage === 'PREVIOUS') {
      const isOver = keepUntilMs(key)! <= nowMs && isGone(stateOf(key));
      return isFollowed || isOver ? [] : [key];
    }
    return [isFollowed ? { ...key, ...UNPUBLISHED, stage: 'PREVIOUS', retiredAtMs: nowMs } : key];
  }
}

/** The slow rule is for keys that sign: one that is to follow has to be found without a break. */
function proofAfter(key: StagedKey, state: RecordState, nowMs: number): KeyProof {
  if (key.stage === 'PREVIOUS' || (key.stage === 'NEXT' && isGone(state))) return UNPUBLISHED;
  return keyProofAfter(key, state, nowMs);
}

function isGone(state: RecordState): boolean {
  return state === 'MISSING' || state === 'WRONG';
}

/** After how many seconds a new key that was found has settled; null when none is settling. */
export function settledAfterSeconds(keys: readonly StagedKey[], nowMs: number): number | null {
  const times = keys.flatMap(({ stage, publishedAtMs }) =>
    stage === 'NEXT' && publishedAtMs !== null ? [publishedAtMs + KEY_ROTATION.settlesMs - nowMs] : [],
  );
  return times.length === 0 ? null : Math.max(1, Math.ceil(Math.min(...times) / SECOND_MS));
}

/** What a record is about, beyond what was found of it, where its key does not just sign; for people. */
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
  if (keepUntil.getTime() <= nowMs) return 'Nothing needs this record any more; it may be taken out';
  const until = keepUntil.toISOString();
  return isGone(state)
    ? `The record was taken out; until ${until} emails that are still on their way may fail to verify without it`
    : `Leave the record until ${until}: emails that were signed with its key are still on their way`;
}
