import type { EraStore, PassGroup, PassPosition, PausedLaneStore } from '@posthorn/database';
import type { Actor } from '@posthorn/domain';
import { RELEASE, Refusal } from '@posthorn/kernel';
import { giveUpDue, heldBackDetail, momentIn } from './give-up-due.ts';
import { findPause, listWholePauses, type Pause } from './pause-sending.ts';

/** Per transaction: few enough for it to end within a second. */
const EMAILS_PER_GROUP = 500;

/** What was done before everything was resumed. */
interface Resumption {
  readonly whose: 'everything';
  /** The pauses that ended. */
  readonly resumed: readonly Pause[];
  /** Whether everything was paused because the database had been restored. */
  readonly wasRestored: boolean;
  /** How many emails were failed, because they had been due before the given time. */
  readonly failed: number;
  /** How many others were due before the database was restored: they are sent, marked as possible duplicates. */
  readonly doubtful: number;
}

interface ResumptionOptions {
  /** Emails that were due before this time (RFC 3339) are failed instead of sent. */
  readonly failBefore?: string | undefined;
  /** Called now and then with how many were failed so far. */
  readonly onProgress?: (failed: number) => void;
}

/**
 * Ends the pauses of all emails and all webhooks, except one that somebody begins meanwhile. Nothing is resumed before everything that was
 * due before `failBefore` is failed, so this may be interrupted at any time and run again. The audit log has an entry from before the first
 * email is failed, so that an interrupted run is recorded too, and one from the end.
 *
 * @throws Refusal (400) for an invalid or future time; (409) when some emails are to be failed but emails are not paused
 */
export async function resumeEverything(
  eras: EraStore,
  pausedLanes: Pick<PausedLaneStore, 'listWhole' | 'findOf'>,
  actor: Actor,
  { failBefore, onProgress = () => undefined }: ResumptionOptions = {},
): Promise<Resumption> {
  const { heldSince, now } = await eras.read();
  const pauses = await listWholePauses(pausedLanes);
  let failed = 0;
  if (failBefore !== undefined) {
    const moment = momentIn(failBefore, now);
    await requirePause(pausedLanes);
    await eras.recordBegun(actor, failBefore);
    failed = await giveUp(eras, moment, heldSince !== null, onProgress);
  }
  const doubtful = heldSince === null ? 0 : await markDoubtful(eras, heldSince);
  const done = { failed, doubtful };
  const { queues, wasRestored } = await eras.release(
    actor,
    failBefore === undefined ? done : { failBefore, ...done },
    now,
  );
  return {
    whose: 'everything',
    resumed: pauses.filter(({ whose }) => queues.includes(whose === 'emails' ? 'email' : 'webhook')),
    wasRestored,
    ...done,
  };
}

async function requirePause(pausedLanes: Pick<PausedLaneStore, 'listWhole' | 'findOf'>): Promise<void> {
  if ((await findPause(pausedLanes, 'emails')) === undefined)
    throw new Refusal(409, 'Emails are not paused, so they may leave meanwhile; pause them first');
}

function giveUp(
  eras: EraStore,
  moment: Date,
  wasRestored: boolean,
  onProgress: (failed: number) => void,
): Promise<number> {
  const detail = wasRestored ? restoredDetail(moment) : heldBackDetail(moment);
  return giveUpDue(
    () => eras.areLeftBefore(moment),
    (failed) =>
      inGroups((max, position) => eras.failDueBefore(moment, max, detail, position), failed, onProgress),
  );
}

/** The detail for the timeline of emails that may have been sent after the backup. */
function restoredDetail(moment: Date): object {
  const error = `the system was restored from a backup, and this email was due before ${moment.toISOString()}: it may have been sent already`;
  return { reason: 'restored', error, release: RELEASE };
}

/** Marks what was due before the restore. @returns how many that is, also if an interrupted run has marked some of them before */
async function markDoubtful(eras: EraStore, heldSince: Date): Promise<number> {
  const marked = await inGroups((max, position) => eras.markDoubtful(heldSince, max, position));
  const { queues } = await eras.countDueSince(heldSince);
  const emails = queues.find(({ queue }) => queue === 'email');
  // Of a very large outbox, not all rows are counted.
  return Math.max(marked, emails?.dueBefore ?? 0);
}

type ProcessGroup = (max: number, position?: PassPosition) => Promise<PassGroup>;

/** Repeats passes until nothing is left, because a pass skips rows that somebody else has locked. */
async function inGroups(
  processGroup: ProcessGroup,
  before = 0,
  onProgress: (processed: number) => void = () => undefined,
): Promise<number> {
  for (let total = before; ;) {
    const processedInPass = await onePass(processGroup, (processed) => onProgress(total + processed));
    if (processedInPass === 0) return total;
    total += processedInPass;
  }
}

async function onePass(processGroup: ProcessGroup, onProgress: (processed: number) => void): Promise<number> {
  let total = 0;
  let position: PassPosition | undefined;
  do {
    const { processed, next } = await processGroup(EMAILS_PER_GROUP, position);
    total += processed;
    position = next;
    if (processed > 0) onProgress(total);
  } while (position !== undefined);
  return total;
}
