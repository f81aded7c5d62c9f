import type { HeldEmailStore, PausedLaneStore } from '@posthorn/database';
import type { Actor } from '@posthorn/domain';
import { Refusal, type WorkspaceId } from '@posthorn/kernel';
import { giveUpDue, heldBackDetail, momentIn } from './give-up-due.ts';
import { findPause, type Resumed, resumeSending } from './pause-sending.ts';

/** Per transaction and lane: few enough for it to end within a second. */
const EMAILS_PER_GROUP = 250;

interface ResumptionOptions {
  /** Emails that were due before this time (RFC 3339) are failed instead of sent. */
  readonly failBefore: string;
  /** Called now and then with how many were failed so far. */
  readonly onProgress?: (failed: number) => void;
}

/**
 * Ends the pause of a workspace after giving up its emails that were due before a time, such as those of a campaign that nobody wanted. May be interrupted at any
 * time and run again. Its audit log has an entry from before the first email is failed, and one from the end.
 *
 * @throws Refusal (400) for an invalid or future time; (409) when the workspace is not paused, or its deletion has begun
 */
export async function resumeWorkspace(
  { held, pausedLanes }: { readonly held: HeldEmailStore; readonly pausedLanes: PausedLaneStore },
  workspaceId: WorkspaceId,
  actor: Actor,
  { failBefore, onProgress = () => undefined }: ResumptionOptions,
): Promise<Resumed & { readonly failed: number }> {
  const moment = momentIn(failBefore, held.now());
  if ((await findPause(pausedLanes, workspaceId)) === undefined)
    throw new Refusal(
      409,
      `The emails of ${workspaceId} are not paused, so they may leave meanwhile; pause them first`,
    );
  await held.recordBegun(workspaceId, actor, failBefore);
  const detail = heldBackDetail(moment);
  const failed = await giveUpDue(
    () => held.areLeftBefore(workspaceId, moment),
    async (before) => {
      for (let total = before; ; onProgress(total)) {
        const group = await held.failDueBefore(workspaceId, moment, EMAILS_PER_GROUP, detail);
        if (group === 0) return total;
        total += group;
      }
    },
  );
  const resumed = await resumeSending(pausedLanes, workspaceId, actor, { detail: { failBefore, failed } });
  return { ...resumed, failed };
}
