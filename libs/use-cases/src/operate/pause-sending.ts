import { Refusal, type WorkspaceId } from '@posthorn/kernel';
import {
  type Actor,
  EVERY_LANE,
  type JsonObject,
  type Page,
  type PageRequest,
  workspaceOfLane,
} from '@posthorn/domain';
import type { OutboxQueue, PausedLane, PausedLaneStore } from '@posthorn/database';
import { normaliseReason } from './normalise-name.ts';

/** What is paused: the emails of one workspace, all emails, or the deliveries of all webhooks. */
export type Whose = WorkspaceId | 'emails' | 'webhooks';

/** The queues that are paused as a whole. */
const QUEUES_OF = {
  emails: ['email'],
  webhooks: ['event', 'webhook'],
} as const satisfies Record<string, readonly OutboxQueue[]>;

/** A pause: emails are still accepted and events still recorded, but they wait. */
export interface Pause {
  readonly whose: Whose;
  readonly reason: string;
  readonly pausedAt: Date;
}

/**
 * Pauses the emails of a workspace (recorded in its audit log), all emails, or all webhooks (recorded in the system's audit log). What is
 * paused already keeps its first reason.
 *
 * @returns the pause, and whether it existed before
 * @throws Refusal (400) for a reason that is empty or too long
 */
export async function pauseSending(
  pausedLanes: PausedLaneStore,
  whose: Whose,
  actor: Actor,
  reason: string,
): Promise<Pause & { readonly wasPaused: boolean }> {
  const kept = normaliseReason(reason);
  const before = await findPause(pausedLanes, whose);
  if (isWhole(whose)) await pausedLanes.pauseQueues(QUEUES_OF[whose], actor, kept);
  else await pausedLanes.pauseWorkspace(whose, actor, kept);
  const pause = await findPause(pausedLanes, whose);
  // If the pause is missing, somebody ended it at once; it was paused all the same.
  return { ...(pause ?? { whose, reason: kept, pausedAt: new Date() }), wasPaused: before !== undefined };
}

/** What resuming has done. */
export interface Resumed {
  readonly whose: Whose;
  readonly wasPaused: boolean;
  readonly allEmailsArePaused: boolean;
}

interface ResumeOptions {
  /** Of a workspace: for its audit log. */
  readonly detail?: JsonObject;
  /** Whether to resume emails or webhooks that are paused as a whole because the database was restored. Default: true. */
  readonly evenIfRestored?: boolean;
}

/**
 * Ends a pause.
 *
 * @returns whether there was one, and whether the emails of all workspaces are still paused
 * @throws Refusal (409) for a workspace whose deletion has begun, and for what is paused because the database was restored
 */
export async function resumeSending(
  pausedLanes: PausedLaneStore,
  whose: Whose,
  actor: Actor,
  { detail, evenIfRestored = true }: ResumeOptions = {},
): Promise<Resumed> {
  const resumed = isWhole(whose)
    ? await pausedLanes.resumeQueues(QUEUES_OF[whose], actor, evenIfRestored)
    : await pausedLanes.resumeWorkspace(whose, actor, detail);
  if (resumed === undefined) throw isWhole(whose) ? restored() : beingDeleted(whose);
  const allEmailsArePaused = (await findPause(pausedLanes, 'emails')) !== undefined;
  return { whose, wasPaused: resumed > 0, allEmailsArePaused };
}

function restored(): Refusal {
  return new Refusal(
    409,
    'The database was restored, so what is due may have been sent already; see `posthorn status`, and resume it with `posthorn resume`, which can also give it up',
  );
}

function beingDeleted(workspaceId: WorkspaceId): Refusal {
  return new Refusal(
    409,
    `${workspaceId} is being deleted, so nothing more is sent for it; \`workspace delete\` completes that`,
  );
}

/** All pauses, the longest first. */
export async function listPauses(pausedLanes: Pick<PausedLaneStore, 'list'>): Promise<Pause[]> {
  return pausesOf(await pausedLanes.list());
}

/** A page of the pauses: on the first one those of whole queues, then those of workspaces, the newest workspace first. */
export async function pageOfPauses(
  pausedLanes: Pick<PausedLaneStore, 'listWhole' | 'pageWorkspaces'>,
  request: PageRequest<WorkspaceId>,
): Promise<Page<Pause>> {
  const [whole, page] = await Promise.all([
    request.startAt === undefined ? listWholePauses(pausedLanes) : [],
    pausedLanes.pageWorkspaces(request),
  ]);
  const ofWorkspaces = page.items.map(({ id, reason, pausedAt }) => ({ whose: id, reason, pausedAt }));
  return { ...page, items: [...whole, ...ofWorkspaces] };
}

/** The pauses of all emails and of all webhooks, the longest first. */
export async function listWholePauses(pausedLanes: Pick<PausedLaneStore, 'listWhole'>): Promise<Pause[]> {
  return pausesOf(await pausedLanes.listWhole(Object.values(QUEUES_OF).flat()));
}

/** The pause of this, if there is one. */
export async function findPause(
  pausedLanes: Pick<PausedLaneStore, 'listWhole' | 'findOf'>,
  whose: Whose,
): Promise<Pause | undefined> {
  const [lane] = isWhole(whose)
    ? await pausedLanes.listWhole(QUEUES_OF[whose])
    : [await pausedLanes.findOf(whose)];
  return lane && { whose, reason: lane.reason, pausedAt: lane.pausedAt };
}

/** A pause of several lanes is as old as that of the first. */
function pausesOf(lanes: readonly PausedLane[]): Pause[] {
  const pauses = new Map<Whose, Pause>();
  for (const lane of lanes) {
    const whose = ownerOf(lane);
    if (whose === undefined || pauses.has(whose)) continue;
    pauses.set(whose, { whose, reason: lane.reason, pausedAt: lane.pausedAt });
  }
  return [...pauses.values()];
}

/** Whether whole queues are meant, rather than one workspace. */
export function isWhole(whose: Whose): whose is keyof typeof QUEUES_OF {
  return whose in QUEUES_OF;
}

/** Undefined for a lane that does not belong to a workspace. */
function ownerOf({ queue, laneId }: PausedLane): Whose | undefined {
  if (laneId === EVERY_LANE) return queue === 'email' ? 'emails' : 'webhooks';
  return workspaceOfLane(laneId);
}
