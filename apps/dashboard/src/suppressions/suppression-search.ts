import type { SuppressionId, WorkspaceId } from '@posthorn/kernel';
import type { PageRequest } from '@posthorn/domain';
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

/** Where the entries of an address are found. */
export function suppressionsOf(email: string): string {
  return `/suppressions?${new URLSearchParams({ email }).toString()}`;
}
