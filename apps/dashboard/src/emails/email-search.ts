import { EMAIL_STATUSES, type EmailStatus, FAILURE_CLASSES, parseMailDomain } from '@posthorn/domain';
import type { EmailFilter } from '@posthorn/database';
import { Refusal, type WorkspaceId } from '@posthorn/kernel';
import type { FormInput } from '../pages/form-input.ts';

/** The fields of the search for emails. */
export const EMAIL_FIELDS = ['to', 'status', 'workspace', 'groupBy', 'class', 'after', 'before'] as const;

/** Selects, in place of a status, the emails that are due, in progress or to be retried. */
export const NOT_LEFT = 'NOT_LEFT';
export type StatusChoice = EmailStatus | typeof NOT_LEFT;

/** What can be selected as status, with the words of the list for it. */
export const STATUS_CHOICES = {
  [NOT_LEFT]: 'SENT, not left yet',
  ...Object.fromEntries(Object.keys(EMAIL_STATUSES).map((status) => [status, status])),
} as Readonly<Record<StatusChoice, string>>;

/** The filter of a search for emails. @throws Refusal (400) for the first invalid field */
export function emailFilter(input: FormInput): EmailFilter {
  const choice = input.oneOf('status', STATUS_CHOICES);
  const status = choice === NOT_LEFT ? { hasNotLeft: true } : { status: choice };
  const times = input.createdRange();
  return {
    ...status,
    ...recipientIn(input),
    groupBy: input.text('groupBy'),
    failureClass: input.oneOf('class', FAILURE_CLASSES),
    ...times,
  };
}

/** One recipient, or all of a domain, such as `@example.com`. */
function recipientIn(input: FormInput): Pick<EmailFilter, 'to' | 'toDomain'> {
  const text = input.text('to');
  if (text === undefined || !text.startsWith('@')) return { to: input.address('to') };
  const parsed = parseMailDomain(text.slice(1));
  if ('fault' in parsed) throw new Refusal(400, `\`to\` ${parsed.fault}`);
  return { toDomain: parsed.domain };
}

/** The URL of the search for emails to an address. */
export function emailsTo(address: string): string {
  return `/emails?${new URLSearchParams({ to: address }).toString()}`;
}

/** The URL of the search for emails that have not left yet, of one workspace or of all. */
export function emailsNotLeft(workspaceId?: WorkspaceId): string {
  const ofWorkspace = workspaceId === undefined ? {} : { workspace: workspaceId };
  return `/emails?${new URLSearchParams({ status: NOT_LEFT, ...ofWorkspace }).toString()}`;
}
