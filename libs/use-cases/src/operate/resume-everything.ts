import type { EraStore, PassGroup, PassPlace, PausedLaneStore } from '@posthorn/database';
import { type Actor, parseTimestamp } from '@posthorn/domain';
import { RELEASE, Refusal, sleep } from '@posthorn/kernel';
import { judged } from '../judged.ts';
import { findPause } from './pause-sending.ts';

/** In one transaction: few enough that it ends within a second. */
const EMAILS_PER_GROUP = 500;
const LOOK_AGAIN_MS = 1_000;

/** What was done before everything was let go. */
interface Resumption {
  readonly whose: 'everything';
  readonly wasPaused: boolean;
  readonly everythingIsPaused: false;
  /** Whether it was held back because the database had been restored. */
  readonly wasRestored: boolean;
  /** How many emails were given up, because they had been due before the time that was named. */
  readonly failed: number;
  /** How many others were due before the database was restored: they leave marked as possible duplicates. */
  readonly doubtful: number;
}

interface ResumptionOptions {
  /** Emails that were due before this time (RFC 3339) are given up, not sent. */
  readonly failBefore?: string | undefined;
  /** Told now and then how many were given up so far. */
  readonly onProgress?: (failed: number) => void;
}

/**
 * Lets emails and webhooks go, whatever holds them back as a whole. Nothing is let go before everything that was due before `failBefore` is given up,
 * so that this may be broken off at any time and run again.
 *
 * @throws Refusal (400) for a time that is none or in the future; (409) when emails are not held back but some are to be given up
 */
export async function resumeEverything(
  eras: EraStore,
  pausedLanes: Pick<PausedLaneStore, 'list'>,
  actor: Actor,
  { failBefore, onProgress = () => undefined }: ResumptionOptions = {},
): Promise<Resumption> {
  const { heldSince, now } = await eras.read();
  const failed =
    failBefore === undefined
      ? 0
      : await giveUp(eras, pausedLanes, momentIn(failBefore, now), heldSince !== null, onProgress);
  const doubtful =
    heldSince === null ? 0 : await inGroups((max, place) => eras.markDoubtful(heldSince, max, place));
  const done = { failed, doubtful };
  const { resumed, wasRestored } = await eras.release(
    actor,
    failBefore === undefined ? done : { failBefore, ...done },
  );
  return {
    whose: 'everything',
    wasPaused: resumed > 0,
    everythingIsPaused: false,
    wasRestored,
    ...done,
  };
}

function momentIn(text: string, now: Date): Date {
  const { atMs } = judged('failBefore', parseTimestamp(text));
  if (atMs > now.getTime())
    throw new Refusal(
      400,
      `\`failBefore\` is in the future; give the time at which the installation that was backed up stopped, it is ${now.toISOString()} now`,
    );
  return new Date(atMs);
}

async function giveUp(
  eras: EraStore,
  pausedLanes: Pick<PausedLaneStore, 'list'>,
  moment: Date,
  wasRestored: boolean,
  onProgress: (failed: number) => void,
): Promise<number> {
  if ((await findPause(pausedLanes, 'everything')) === undefined)
    throw new Refusal(409, 'Emails are not held back, so they may leave meanwhile; pause everything first');
  const detail = detailOf(moment, wasRestored);
  for (let failed = 0; ; await sleep(LOOK_AGAIN_MS)) {
    // What was being sent when the dump was made still has its lease, for a minute at most; what is being sent here ends. Asked before the pass, which
    // then finds what has ended meanwhile.
    const leased = await eras.countLeasedBefore(moment);
    failed = await inGroups(
      (max, place) => eras.failDueBefore(moment, max, detail, place),
      failed,
      onProgress,
    );
    if (leased === 0) return failed;
  }
}

/** As the timeline has it. */
function detailOf(moment: Date, wasRestored: boolean): object {
  const error = wasRestored
    ? `the system was restored from a backup, and this email was due before ${moment.toISOString()}: it may have been sent already`
    : `an operator gave up what was due before ${moment.toISOString()} when emails were held back`;
  return { reason: wasRestored ? 'restored' : 'held_back', error, release: RELEASE };
}

type Deal = (max: number, place?: PassPlace) => Promise<PassGroup>;

/** Passes over them until there is nothing left, for what somebody else looks at is passed by. */
async function inGroups(
  deal: Deal,
  before = 0,
  onProgress: (dealtWith: number) => void = () => undefined,
): Promise<number> {
  for (let all = before; ;) {
    const some = await onePass(deal, (dealtWith) => onProgress(all + dealtWith));
    if (some === 0) return all;
    all += some;
  }
}

async function onePass(deal: Deal, onProgress: (dealtWith: number) => void): Promise<number> {
  let all = 0;
  let place: PassPlace | undefined;
  do {
    const { dealtWith, next } = await deal(EMAILS_PER_GROUP, place);
    all += dealtWith;
    place = next;
    if (dealtWith > 0) onProgress(all);
  } while (place !== undefined);
  return all;
}
