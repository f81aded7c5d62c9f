import { parseId, type WorkspaceId } from '@posthorn/kernel';
import { bulkLane, EVERY_LANE, type LaneId, nowLane } from '@posthorn/domain';
import { type PausedLane, type PausedLaneStore } from '@posthorn/database';
import { nameIn } from './name-in.ts';

const LONGEST_REASON = 500;

/** Whose emails are meant. */
export type Whose = WorkspaceId | 'everything';

/** Emails that are held back: they are still accepted, and wait. */
export interface Pause {
  readonly whose: Whose;
  readonly reason: string;
  readonly pausedAt: Date;
}

/**
 * Holds emails back, of one workspace or of all. Those that are held back already keep their first reason.
 *
 * @returns what holds now, and whether it did before
 * @throws Refusal (400) for a reason that is empty or too long
 */
export async function pauseSending(
  pausedLanes: PausedLaneStore,
  whose: Whose,
  reason: string,
): Promise<Pause & { readonly wasPaused: boolean }> {
  const kept = nameIn('reason', reason, LONGEST_REASON);
  const before = await findPause(pausedLanes, whose);
  await pausedLanes.pause('email', lanesOf(whose), kept);
  const pause = await findPause(pausedLanes, whose);
  // Somebody let it go again at once: it was held back all the same.
  return { ...(pause ?? { whose, reason: kept, pausedAt: new Date() }), wasPaused: before !== undefined };
}

/**
 * Lets them go again.
 *
 * @returns whether they were held back, and whether they still are because everything is
 */
export async function resumeSending(
  pausedLanes: PausedLaneStore,
  whose: Whose,
): Promise<{ readonly whose: Whose; readonly wasPaused: boolean; readonly everythingIsPaused: boolean }> {
  const resumed = await pausedLanes.resume('email', lanesOf(whose));
  const everythingIsPaused = (await findPause(pausedLanes, 'everything')) !== undefined;
  return { whose, wasPaused: resumed > 0, everythingIsPaused };
}

/** What is held back, the longest first. */
export async function listPauses(pausedLanes: Pick<PausedLaneStore, 'list'>): Promise<Pause[]> {
  const pauses = new Map<Whose, Pause>();
  for (const lane of await pausedLanes.list()) {
    const whose = ownerOf(lane);
    if (whose === undefined || pauses.has(whose)) continue;
    pauses.set(whose, { whose, reason: lane.reason, pausedAt: lane.pausedAt });
  }
  return [...pauses.values()];
}

async function findPause(
  pausedLanes: Pick<PausedLaneStore, 'list'>,
  whose: Whose,
): Promise<Pause | undefined> {
  return (await listPauses(pausedLanes)).find((pause) => pause.whose === whose);
}

function lanesOf(whose: Whose): LaneId[] {
  return whose === 'everything' ? [EVERY_LANE] : [nowLane(whose), bulkLane(whose)];
}

/** Undefined for lanes that carry no emails. */
function ownerOf({ queue, laneId }: PausedLane): Whose | undefined {
  if (queue !== 'email') return undefined;
  return laneId === EVERY_LANE ? 'everything' : parseId('wrk', laneId.split('.', 1)[0]!);
}
