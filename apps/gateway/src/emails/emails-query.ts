import { EMAIL_STATUSES, type EmailStatus, SIZES } from '@posthorn/domain';
import type { EmailFilter } from '@posthorn/database';
import { PageQuery } from '../paging/page-query.ts';
import { timeRange } from '../paging/time-range.ts';
import { address, addressIn } from '../validation/mailbox-rules.ts';
import { Optional } from '../validation/rule.ts';
import { oneOfWords, singleLine, timeOrDay } from '../validation/text-rules.ts';

/** The filter of a list of emails; an email must match all given parameters. */
export class EmailsQuery extends PageQuery {
  @Optional(oneOfWords('EmailStatus', Object.keys(EMAIL_STATUSES)), 'Only emails with this status.', {
    example: 'BOUNCED',
  })
  status?: EmailStatus;

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

/** The filter of a validated query. @throws Refusal (400) for an empty time range */
export function emailFilter(
  query: EmailsQuery,
): Required<Omit<EmailFilter, 'hasNotLeft' | 'failureClass' | 'toDomain'>> {
  const { status, to, groupBy, template } = query;
  return {
    status,
    to: to === undefined ? undefined : addressIn(to),
    groupBy,
    template,
    ...timeRange(query),
  };
}
