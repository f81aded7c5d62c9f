import { parseId, type WorkspaceId } from '@posthorn/kernel';
import { type Actor, EVERY_LANE } from '@posthorn/domain';
import type { OutboxQueue, PausedLane, PausedLaneStore } from '@posthorn/database';
import { reasonIn } from './name-in.ts';

/** Whose emails are meant: one workspace's, or everybody's; or not emails, but what webhooks are told. */
export type Whose = WorkspaceId | 'everything' | 'webhooks';

/** The queues that are held back as a whole. */
const QUEUES_OF = {
  everything: ['email'],
  webhooks: ['event', 'webhook'],
} as const satisfies Record<string, readonly OutboxQueue[]>;

/** What is held back: emails are still accepted, and events still recorded, and they wait. */
export interface Pause {
  readonly whose: Whose;
  readonly reason: string;
  readonly pausedAt: Date;
}

/**
 * Holds emails back, of one workspace (whose audit log is told) or of all, or what webhooks are told (then it is the log of the system). Those that are
 * held back already keep their first reason.
 *
 * @returns what holds now, and whether it did before
 * @throws Refusal (400) for a reason that is empty or too long
 */
export async function pauseSending(
  pausedLanes: PausedLaneStore,
  whose: Whose,
  actor: Actor,
  reason: string,
): Promise<Pause & { readonly wasPaused: boolean }> {
  const kept = reasonIn(reason);
  const before = await findPause(pausedLanes, whose);
  if (isWhole(whose)) await pausedLanes.pauseQueues(QUEUES_OF[whose], actor, kept);
  else await pausedLanes.pauseWorkspace(whose, actor, kept);
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
  actor: Actor,
): Promise<{ readonly whose: Whose; readonly wasPaused: boolean; readonly everythingIsPaused: boolean }> {
  const resumed = isWhole(whose)
    ? await pausedLanes.resumeQueues(QUEUES_OF[whose], actor)
    : await pausedLanes.resumeWorkspace(whose, actor);
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

/** What holds this back, if something does. */
export async function findPause(
  pausedLanes: Pick<PausedLaneStore, 'list'>,
  whose: Whose,
): Promise<Pause | undefined> {
  return (await listPauses(pausedLanes)).find((pause) => pause.whose === whose);
}

/** Whether queues are meant as a whole, and not one workspace. */
export function isWhole(whose: Whose): whose is keyof typeof QUEUES_OF {
  return whose in QUEUES_OF;
}

/** Undefined for a lane that is of no workspace. */
function ownerOf({ queue, laneId }: PausedLane): Whose | undefined {
  if (laneId === EVERY_LANE) return queue === 'email' ? 'everything' : 'webhooks';
  return parseId('wrk', laneId.split('.', 1)[0]!);
}
