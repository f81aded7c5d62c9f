import { type WorkspaceId } from '@posthorn/kernel';
import { bulkLane, EVERY_LANE, type LaneId, nowLane } from '@posthorn/domain';
import { type PausedLaneStore } from '@posthorn/database';

/** Holds emails back, of one workspace or of all: they are still accepted, and wait. */
export async function pauseSending(
  pausedLanes: PausedLaneStore,
  whose: WorkspaceId | 'everything',
  reason: string,
): Promise<void> {
  await pausedLanes.pause('email', lanesOf(whose), reason);
}

/** Lets them go again; says whether they were held back. */
export async function resumeSending(
  pausedLanes: PausedLaneStore,
  whose: WorkspaceId | 'everything',
): Promise<boolean> {
  return (await pausedLanes.resume('email', lanesOf(whose))) > 0;
}

function lanesOf(whose: WorkspaceId | 'everything'): LaneId[] {
  return whose === 'everything' ? [EVERY_LANE] : [nowLane(whose), bulkLane(whose)];
}
