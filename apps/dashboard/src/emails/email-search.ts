import { type EmailId, parseId } from '@posthorn/kernel';
import { EMAIL_STATUSES } from '@posthorn/domain';
import type { EmailFilter } from '@posthorn/database';
import type { Given } from '../pages/given.ts';

/** The fields of the search for emails. */
export const EMAIL_FIELDS = ['to', 'status', 'workspace', 'groupBy', 'after', 'before'] as const;

/** Which emails somebody searches for. @throws Refusal (400) that names the first thing that is wrong */
export function emailFilter(given: Given): EmailFilter {
  const status = given.word('status', EMAIL_STATUSES);
  const times = given.times();
  return { status, to: given.address('to'), groupBy: given.text('groupBy'), ...times };
}

/** As mail programs show it: what follows the prefix of the id stands before the `@`. */
const MESSAGE_ID = /^<([^@<>]+)@[^@<>]+>$/;

/** The email whose id, or Message-ID in its angle brackets, was given where a recipient could be; undefined: none was. */
export function emailNamedIn(given: Given): EmailId | undefined {
  const text = given.shown('to') ?? '';
  const [, local] = MESSAGE_ID.exec(text) ?? [];
  return parseId('trs', local === undefined ? text : `trs_${local}`);
}

/** Where the emails to an address are found. */
export function emailsTo(address: string): string {
  return `/emails?${new URLSearchParams({ to: address }).toString()}`;
}
