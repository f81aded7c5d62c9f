import { Refusal, type WorkspaceId } from '@posthorn/kernel';
import {
  type Actor,
  type LimitOverrides,
  MAX_LIMIT_OVERRIDES,
  parseTrackingUrl,
  RETENTION_BOUNDS,
  type RetentionOverrides,
} from '@posthorn/domain';
import type { Workspace, WorkspaceStore } from '@posthorn/database';
import { requireValid } from '../require-valid.ts';
import { foundWorkspace } from './require-workspace.ts';

// What an operator may change of a workspace. All of it throws a Refusal: 400 for an invalid value, 404 when there is no such workspace.

/** Which events of emails a workspace's feed has: all, or those that a webhook was subscribed to when they happened. */
const EMAIL_EVENTS = ['all', 'subscribed'];

type Changes = Pick<WorkspaceStore, 'change'>;

/** Sets limits of a workspace's own. Absent ones are kept; null means the installation's, 0 no limit. They apply from the next request on. */
export async function limitWorkspace(
  workspaces: Changes,
  id: WorkspaceId,
  actor: Actor,
  limits: Partial<LimitOverrides>,
): Promise<Workspace> {
  const given = Object.entries(limits) as [keyof LimitOverrides, number | null][];
  for (const [name, limit] of given) validateLimit(name, limit);
  return foundWorkspace(id, await workspaces.change(id, actor, 'workspace.limits_changed', limits));
}

/** @throws Refusal (400) for a value that is neither null nor a valid limit */
export function validateLimit(name: keyof LimitOverrides, limit: number | null): void {
  const highest = MAX_LIMIT_OVERRIDES[name];
  if (isWithin(limit, 0, highest)) return;
  throw new Refusal(400, `\`${name}\` must be a whole number from 0 to ${highest}, where 0 means no limit`);
}

/**
 * Sets for how many days a workspace's emails and events are kept. Absent values are kept; null means the installation's. Whatever is too
 * old by then is removed within about an hour, permanently.
 */
export async function retainWorkspace(
  workspaces: Changes,
  id: WorkspaceId,
  actor: Actor,
  retention: Partial<RetentionOverrides>,
): Promise<Workspace> {
  const given = Object.entries(retention) as [keyof RetentionOverrides, number | null][];
  for (const [name, days] of given) {
    const { min, max } = RETENTION_BOUNDS[name];
    if (!isWithin(days, min, max))
      throw new Refusal(400, `\`${name}\` must be a whole number of days from ${min} to ${max}`);
  }
  return foundWorkspace(id, await workspaces.change(id, actor, 'workspace.retention_changed', retention));
}

/**
 * Sets which events of emails are recorded for a workspace, from the next one on. Those that no webhook is subscribed to are only in the feed.
 *
 * @param emailEvents one of {@link EMAIL_EVENTS}
 */
export async function changeRecording(
  workspaces: Changes,
  id: WorkspaceId,
  actor: Actor,
  emailEvents: string,
): Promise<Workspace> {
  if (!EMAIL_EVENTS.includes(emailEvents))
    throw new Refusal(400, `\`emailEvents\` must be one of ${EMAIL_EVENTS.join(', ')}`);
  const own = { recordsAllEvents: emailEvents === 'all' };
  return foundWorkspace(id, await workspaces.change(id, actor, 'workspace.recording_changed', own));
}

/**
 * Sets a workspace's own URL for tracking links and images, from the next email on. The operator is responsible for making it lead to the
 * gateway with a matching certificate.
 *
 * @param trackingUrl null: the installation's
 */
export async function changeTrackingUrl(
  workspaces: Changes,
  id: WorkspaceId,
  actor: Actor,
  trackingUrl: string | null,
): Promise<Workspace> {
  const valid = trackingUrl === null ? null : requireValid('url', parseTrackingUrl(trackingUrl)).url;
  const own = { trackingUrl: valid };
  return foundWorkspace(id, await workspaces.change(id, actor, 'workspace.tracking_changed', own));
}

/** Whether this is null, which means the installation's value, or a whole number from `min` to `max`. */
function isWithin(value: number | null, min: number, max: number): boolean {
  return value === null || (Number.isInteger(value) && value >= min && value <= max);
}
