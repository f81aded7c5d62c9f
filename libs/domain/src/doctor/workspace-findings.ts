import type { WorkspaceId } from '@posthorn/kernel';
import { advice, enumerated, type Finding, good } from './finding.ts';

/** The workspaces whose webhooks or domains may fail, and which have no editor who would be told. */
export interface WithoutEditor {
  readonly count: number;
  /** The oldest of them; null: there is none. */
  readonly first: WorkspaceId | null;
}

/** Whether somebody is notified by mail when a webhook or a domain fails. @param sendsMails whether there is a sender for Posthorn's own mails */
export function judgeEditors(sendsMails: boolean, { count, first }: WithoutEditor): Finding {
  if (!sendsMails)
    return advice(
      'without SYSTEM_FROM Posthorn sends no mails of its own: nobody can be invited, or is told that a webhook or a domain fails',
      'set SYSTEM_FROM, and restart the gateways',
    );
  if (count === 0) return good('every workspace with a webhook or a verified domain has an editor');
  return advice(
    `workspaces without an editor who would be told that a webhook or a domain fails: ${count}, the first is ${first}`,
    'invite one, with a key of the role EDITOR: POST /v1/invitations with "role": "EDITOR"',
  );
}

/** What a workspace has used of its limit in this month. */
export interface LimitUsage {
  readonly workspaceId: WorkspaceId;
  readonly used: number;
  /** At least 1. */
  readonly limit: number;
}

/** That of the alert PosthornMonthlyLimitNear. */
const NEAR_LIMIT = 0.8;

/** Whether a workspace is about to have no emails accepted until the month ends. @param highest those with the highest shares, the highest first */
export function judgeLimits(highest: readonly LimitUsage[]): Finding {
  const near = highest.filter(({ used, limit }) => used / limit > NEAR_LIMIT);
  if (near.length === 0) return good('no workspace has used more than 80 % of its monthly limit');
  const texts = near.map(({ workspaceId, used, limit }) => `${workspaceId} (${used} of ${limit} emails)`);
  return advice(
    `more than 80 % of the monthly limit is used by ${enumerated(texts)}; what exceeds it is refused until the next month`,
    'unless that is intended: posthorn workspace limit --workspace wrk_… --monthly-limit N, or a higher MONTHLY_EMAIL_LIMIT',
  );
}
