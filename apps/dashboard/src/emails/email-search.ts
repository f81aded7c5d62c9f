import { type EmailId, parseId } from '@posthorn/kernel';
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

/** A Message-ID as mail programs show it; its local part is the email's id without the prefix. */
const MESSAGE_ID = /^<([^@<>]+)@[^@<>]+>$/;

/** The email's id, where the recipient field holds an id or a Message-ID in angle brackets; undefined: it holds neither. */
export function emailIdIn(input: FormInput): EmailId | undefined {
  const text = input.redisplay('to') ?? '';
  const [, local] = MESSAGE_ID.exec(text) ?? [];
  return parseId('trs', local === undefined ? text : `trs_${local}`);
}

/** The URL of the search for emails to an address. */
export function emailsTo(address: string): string {
  return `/emails?${new URLSearchParams({ to: address }).toString()}`;
}
