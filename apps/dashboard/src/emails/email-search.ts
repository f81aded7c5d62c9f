import { EMAIL_STATUSES } from '@posthorn/domain';
import type { EmailFilter } from '@posthorn/database';
import type { FormInput } from '../pages/form-input.ts';

/** The fields of the search for emails. */
export const EMAIL_FIELDS = ['to', 'status', 'workspace', 'groupBy', 'after', 'before'] as const;

/** The filter of a search for emails. @throws Refusal (400) for the first invalid field */
export function emailFilter(input: FormInput): EmailFilter {
  const status = input.oneOf('status', EMAIL_STATUSES);
  const times = input.createdRange();
  return { status, to: input.address('to'), groupBy: input.text('groupBy'), ...times };
}

/** The URL of the search for emails to an address. */
export function emailsTo(address: string): string {
  return `/emails?${new URLSearchParams({ to: address }).toString()}`;
}
