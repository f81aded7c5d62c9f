import { Refusal, type SuppressionId, type WorkspaceId } from '@posthorn/kernel';
import { type PageRequest, SUPPRESSION_REASONS, type SuppressionReason } from '@posthorn/domain';
import type { Given } from '../pages/given.ts';

/** The fields of the search for addresses that nothing is sent to. */
export const SUPPRESSION_FIELDS = ['email', 'workspace'] as const;

/** What is searched for. */
export interface SuppressionSearch {
  readonly email: string | undefined;
  /** Undefined: the lists of all workspaces. */
  readonly workspaceId: WorkspaceId | undefined;
  readonly page: PageRequest<SuppressionId>;
}

/** Judges what somebody searches for. @throws Refusal (400) that names the first thing that is wrong */
export function suppressionSearch(given: Given): SuppressionSearch {
  return {
    email: given.address('email'),
    workspaceId: given.id('workspace', 'wrk'),
    page: given.page('sup'),
  };
}

/** What somebody wants on the list of a workspace. */
export interface WantedSuppression {
  readonly workspaceId: WorkspaceId;
  readonly email: string;
  readonly reason: SuppressionReason;
}

/** Judges what is to be put on a list. @throws Refusal (400) that names the first thing that is wrong */
export function wantedSuppression(given: Given): WantedSuppression {
  const email = given.address('email');
  const workspaceId = given.id('workspace', 'wrk');
  if (email === undefined) throw new Refusal(400, '`email` is missing; give the address');
  if (workspaceId === undefined) throw new Refusal(400, '`workspace` is missing; give its id');
  return { workspaceId, email, reason: given.word('reason', SUPPRESSION_REASONS) ?? 'MANUAL' };
}

/** Where the entries of an address are found; with a workspace, the one of its list. */
export function suppressionsOf(email: string, workspace?: WorkspaceId): string {
  const query = new URLSearchParams({ email, ...(workspace === undefined ? {} : { workspace }) });
  return `/suppressions?${query.toString()}`;
}
