import { Refusal, type WorkspaceId } from '@posthorn/kernel';
import { type Suppression, SUPPRESSION_REASONS } from '@posthorn/domain';
import type { Given } from '../pages/given.ts';

/** The fields of the search for addresses that nothing is sent to. */
export const SUPPRESSION_FIELDS = ['email', 'workspace'] as const;

/** What somebody wants on the list of a workspace. @throws Refusal (400) that names the first thing that is wrong */
export function wantedSuppression(given: Given): Pick<Suppression, 'workspaceId' | 'email' | 'reason'> {
  const email = given.address('email');
  const workspaceId = given.id('workspace', 'wrk');
  if (email === undefined) throw new Refusal(400, '`email` is missing; give the address');
  if (workspaceId === undefined) throw new Refusal(400, '`workspace` is missing; give its id');
  return { workspaceId, email, reason: given.word('reason', SUPPRESSION_REASONS) ?? 'MANUAL' };
}

/** The address and the workspace that were given, whether or not they can be. */
export function namedIn(given: Given): { email: string | undefined; workspace: string | undefined } {
  return { email: given.shown('email'), workspace: given.shown('workspace') };
}

/** The search that somebody came from, as the fields of its address. */
export function placeOf(given: Given): Record<string, string> {
  const named = Object.entries({ ...namedIn(given), startAt: given.shown('startAt') });
  return Object.fromEntries(named.filter((field): field is [string, string] => field[1] !== undefined));
}

/** Where the entries of an address are found; with a workspace, the one of its list. */
export function suppressionsOf(email: string, workspace?: WorkspaceId): string {
  const query = new URLSearchParams({ email, ...(workspace === undefined ? {} : { workspace }) });
  return `/suppressions?${query.toString()}`;
}
