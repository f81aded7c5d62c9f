import type { ErasureState } from '@posthorn/domain';
import { ERASURE_RULES } from '../../schema/erasure-rules.ts';
import { addCounts, type TableCounts, withoutNone } from './table-counts.ts';

/** What is in progress is waited for, and searched for again, so often. */
const MAX_PASSES = 6;
/** Emails and deliveries that are in progress end within seconds, as a rule. */
const BETWEEN_PASSES_SECONDS = 5;

/** How far an erasure is, and what it has done. */
export interface ErasureProgress {
  readonly state: ErasureState;
  /** The table that is searched. While `REMOVING`, `contacts` stands for everything that the address is a key of. */
  readonly step: string;
  /** The last key searched in it; empty: none. */
  readonly position: readonly string[];
  /** How often it had to begin again because something was in progress. */
  readonly passes: number;
  /** Whether it was asked for again since it began to search. */
  readonly isAskedAgain: boolean;
  readonly searched: number;
  readonly deleted: TableCounts;
  readonly redacted: TableCounts;
  readonly remaining: TableCounts;
  readonly isRemembered: boolean;
  readonly cancelled: number;
  readonly inProgress: number;
}

/** What was done to a group of rows. */
export interface ErasedRowGroup {
  /** The last key; undefined: there are no more rows. */
  readonly end: readonly string[] | undefined;
  readonly searched?: number;
  readonly deleted?: TableCounts;
  readonly redacted?: TableCounts;
  readonly remaining?: TableCounts;
  readonly isRemembered?: boolean;
  readonly cancelled?: number;
  readonly inProgress?: number;
}

/** The steps in their order: first what is only about the person, without which nothing new is recorded about them; then every table of a workspace. */
const STEPS: readonly Pick<ErasureProgress, 'state' | 'step'>[] = [
  { state: 'REMOVING', step: 'emails' },
  { state: 'REMOVING', step: 'events' },
  // After the emails: one that was in progress may have bounced, which adds the address to the suppression list.
  { state: 'REMOVING', step: 'contacts' },
  ...Object.entries(ERASURE_RULES)
    .filter(([, { ofWorkspace }]) => ofWorkspace !== undefined)
    .map(([step]) => ({ state: 'REDACTING', step }) as const),
];

/** What is searched anew has nothing in progress, and nothing left, yet. */
const FROM_START = { ...STEPS[0]!, position: [], inProgress: 0, remaining: {} } as const;

/** The progress of an erasure after a group, and for how many seconds it has to wait. */
export function afterGroup(
  before: ErasureProgress,
  group: ErasedRowGroup,
): { readonly progress: ErasureProgress; readonly waitSeconds: number } {
  const progress = withCounts(before, group);
  if (group.end !== undefined) return { progress: { ...progress, position: group.end }, waitSeconds: 0 };
  const { state, step, passes } = progress;
  if (state === 'REMOVING' && step === 'events' && progress.inProgress > 0 && passes < MAX_PASSES)
    return {
      progress: { ...progress, ...FROM_START, passes: passes + 1 },
      waitSeconds: BETWEEN_PASSES_SECONDS,
    };
  return { progress: { ...progress, ...nextStep(progress) }, waitSeconds: 0 };
}

function nextStep({ state, step, isAskedAgain }: ErasureProgress): Partial<ErasureProgress> {
  const next = STEPS[STEPS.findIndex((one) => one.state === state && one.step === step) + 1];
  if (next !== undefined) return { ...next, position: [] };
  return isAskedAgain
    ? { ...FROM_START, passes: 0, isAskedAgain: false }
    : { state: 'COMPLETED', position: [] };
}

function withCounts(before: ErasureProgress, group: ErasedRowGroup): ErasureProgress {
  return {
    ...before,
    searched: before.searched + (group.searched ?? 0),
    deleted: sumOf(before.deleted, group.deleted),
    redacted: sumOf(before.redacted, group.redacted),
    remaining: sumOf(before.remaining, group.remaining),
    isRemembered: before.isRemembered || group.isRemembered === true,
    cancelled: before.cancelled + (group.cancelled ?? 0),
    inProgress: before.inProgress + (group.inProgress ?? 0),
  };
}

/** The sum of numbers of rows, by table, without zeros. */
export function sumOf(one: TableCounts, other: TableCounts = {}): TableCounts {
  const sum = { ...one };
  addCounts(sum, other);
  return withoutNone(sum);
}
