import { Refusal } from '@posthorn/kernel';
import { EMAIL_STATUSES, type EmailStatus, parseTimeOrDay, SIZES } from '@posthorn/domain';
import { type EmailFilter } from '@posthorn/database';
import { PageQuery } from '../paging/page-query.ts';
import { address, addressIn } from '../validation/mailbox-rules.ts';
import { Optional } from '../validation/rule.ts';
import { oneOfWords, singleLine, timeOrDay } from '../validation/text-rules.ts';

/** Which emails are listed: those for which everything that is given is so. */
export class EmailsQuery extends PageQuery {
  @Optional(oneOfWords(Object.keys(EMAIL_STATUSES)), 'Only emails with this status.', { example: 'BOUNCED' })
  status?: string;

  @Optional(address, 'Only emails to this address; the letter case of its domain does not matter.')
  to?: string;

  @Optional(singleLine(SIZES.groupBy), 'Only emails that were sent with this `groupBy`.')
  groupBy?: string;

  @Optional(singleLine(SIZES.templateName), 'Only emails made from the template with this name.')
  template?: string;

  @Optional(timeOrDay, 'Only emails accepted at this time or later; a day stands for its beginning (UTC).')
  createdAfter?: string;

  @Optional(timeOrDay, 'Only emails accepted before this time; a day stands for its beginning (UTC).')
  createdBefore?: string;
}

/** What a judged query asks for. @throws Refusal (400) when no time can be after the one and before the other */
export function emailFilter(query: EmailsQuery): EmailFilter {
  const { status, to, groupBy, template } = query;
  const [createdAfter, createdBefore] = [momentOf(query.createdAfter), momentOf(query.createdBefore)];
  if (createdAfter !== undefined && createdBefore !== undefined && createdAfter >= createdBefore) {
    throw new Refusal(
      400,
      '`createdBefore` is not later than `createdAfter`; give a later time, or leave one out',
    );
  }
  return {
    status: status as EmailStatus | undefined,
    to: to === undefined ? undefined : addressIn(to),
    ...{ groupBy, template, createdAfter, createdBefore },
  };
}

function momentOf(text: string | undefined): Date | undefined {
  if (text === undefined) return undefined;
  const parsed = parseTimeOrDay(text);
  if ('fault' in parsed) throw new Error('a time reached the filter without having been judged');
  // No id is older than 1970, and none can stand for such a time.
  return new Date(Math.max(0, parsed.atMs));
}
