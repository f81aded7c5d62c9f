import { Refusal, type WorkspaceId } from '@posthorn/kernel';
import { type Suppression, SUPPRESSION_REASONS } from '@posthorn/domain';
import type { FormInput } from '../pages/form-input.ts';

/** The fields of the search for suppressions. */
export const SUPPRESSION_FIELDS = ['email', 'workspace'] as const;

/** Parses the form for a new suppression. @throws Refusal (400) for the first invalid field */
export function suppressionIn(input: FormInput): Pick<Suppression, 'workspaceId' | 'email' | 'reason'> {
  const email = input.address('email');
  const workspaceId = input.workspaceId();
  if (email === undefined) throw new Refusal(400, '`email` is missing; give the address');
  if (workspaceId === undefined) throw new Refusal(400, '`workspace` is missing; give its id');
  return { workspaceId, email, reason: input.oneOf('reason', SUPPRESSION_REASONS) ?? 'MANUAL' };
}

/** The submitted address and workspace, unvalidated. */
export function submittedFields(input: FormInput): {
  email: string | undefined;
  workspace: string | undefined;
} {
  return { email: input.redisplay('email'), workspace: input.redisplay('workspace') };
}

/** The query of the search that the form was sent from. */
export function searchParamsOf(input: FormInput): Record<string, string> {
  const named = Object.entries({ ...submittedFields(input), startAt: input.redisplay('startAt') });
  return Object.fromEntries(named.filter((field): field is [string, string] => field[1] !== undefined));
}

/** The URL of the search for an address's suppressions, in all workspaces or in one. */
export function suppressionsOf(email: string, workspace?: WorkspaceId): string {
  const query = new URLSearchParams({ email, ...(workspace === undefined ? {} : { workspace }) });
  return `/suppressions?${query.toString()}`;
}
