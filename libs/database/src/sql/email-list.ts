import { uuidOf, type WorkspaceId } from '@posthorn/kernel';
import type { EmailStatus, FailureClass } from '@posthorn/domain';
import type { Email as EmailRow } from '../generated/client.ts';
import {
  boundedScan,
  type CreatedBetween,
  type Equality,
  equalityOf,
  rangeOf,
  type Statement,
  type ScanWindow,
  Values,
} from './statement.ts';
import { failureClassOf } from './failure-class.ts';
import { selectList } from './select-list.ts';

/** Filters for a list of emails; times are those of acceptance. */
export interface EmailFilter extends CreatedBetween {
  readonly status?: EmailStatus | undefined;
  /** Only those that are due, in progress or to be retried: SENT, although no relay has taken them yet. */
  readonly hasNotLeft?: boolean | undefined;
  /** The recipient's address as stored: with the domain in lower-case ASCII. */
  readonly to?: string | undefined;
  /** The domain of the recipient, in lower-case ASCII. */
  readonly toDomain?: string | undefined;
  readonly groupBy?: string | undefined;
  readonly template?: string | undefined;
  /** Only those whose last attempt failed like this, and that have not been sent since. */
  readonly failureClass?: FailureClass | undefined;
}

/** What a summary has of `emails e`, by the names of the columns in Prisma's schema. */
const SUMMARY = {
  id: 'e.id',
  type: 'e.type',
  status: 'e.status',
  fromAddress: 'e.from_address',
  toAddress: 'e.to_address',
  subject: 'e.subject',
  templateName: 'e.template_name',
  messageId: 'e.message_id',
  groupBy: 'e.group_by',
  sendAt: 'e.send_at',
  acceptedAt: 'e.accepted_at',
  sentAt: 'e.sent_at',
} as const satisfies Partial<Record<keyof EmailRow, string>>;

/** A row of {@link EMAIL_SUMMARY_COLUMNS}. */
export type EmailSummaryRow = Pick<EmailRow, keyof typeof SUMMARY>;

export const EMAIL_SUMMARY_COLUMNS = selectList(SUMMARY);

/** What is shown of an email in a list; for {@link boundedScan}. */
export const SHOWN_EMAIL = `${EMAIL_SUMMARY_COLUMNS}
FROM     given g
JOIN     emails e ON e.id = g.id`;

/**
 * Scans a workspace's emails: see {@link boundedScan}.
 *
 * Indexes: emails_by_recipient_idx, emails_scheduled_idx, emails_by_template_idx, emails_by_group_idx or emails_by_workspace_idx, each from where the window
 * starts (see {@link inIndexOrder}; the last two include the status); emails_pkey for the rows returned. Time bounds are expressed as bounds of the id, so that other monthly
 * partitions are pruned. Locks: none.
 */
export function listEmails(workspaceId: WorkspaceId, window: ScanWindow, filter: EmailFilter): Statement {
  const values = new Values();
  const ofWorkspace = { column: 'workspace_id', value: values.add(uuidOf(workspaceId), 'uuid') };
  const { indexed, others } = conditionsOf(filter, values);
  return boundedScan(window, values, {
    table: 'emails',
    equalities: [ofWorkspace, ...indexed.equalities],
    range: rangeOf(filter, window, values),
    conditions: indexed.predicate,
    filters: others,
    shown: SHOWN_EMAIL,
  });
}

/** A condition that has an index of its own. */
interface IndexedCondition {
  /** The columns between workspace and id in the index. */
  readonly equalities: readonly Equality[];
  /** The predicate of the index, if that is a partial one. */
  readonly predicate: readonly string[];
}

/** The same as conditions. */
export function termsOf({ equalities, predicate }: IndexedCondition): readonly string[] {
  return [...equalities.map(equalityOf), ...predicate];
}

/** The conditions of a filter, without those on the time. */
interface Conditions {
  /** The most selective of those that, together with the workspace, have an index of their own; empty: none has. */
  readonly indexed: IndexedCondition;
  /** The others. A status other than SCHEDULED is one of them: indexes include it, so that other emails need not be read from the table. */
  readonly others: readonly string[];
}

const NOT_LEFT = `status = 'SENT' AND sent_at IS NULL`;

export function conditionsOf(
  { to, toDomain, status, hasNotLeft = false, template, groupBy, failureClass }: EmailFilter,
  values: Values,
): Conditions {
  const isScheduled = status === 'SCHEDULED';
  // The predicates are word for word those of the indexes: all scheduled emails have a send_at.
  const by = (column: string, ...predicate: readonly string[]) => {
    return (value: string): IndexedCondition => ({ equalities: [{ column, value }], predicate });
  };
  const withIndex: IndexedCondition[] = [
    ...values.given(to, 'text', by('to_address')),
    ...(isScheduled ? [{ equalities: [], predicate: [`status = 'SCHEDULED'`, 'send_at IS NOT NULL'] }] : []),
    ...values.given(template, 'text', by('template_name', 'template_name IS NOT NULL')),
    ...values.given(groupBy, 'text', by('group_by', 'group_by IS NOT NULL')),
  ];
  const otherStatus = isScheduled ? undefined : status;
  const others = [
    ...values.given(otherStatus, 'email_status', (wanted) => `status = ${wanted}`),
    ...values.given(
      toDomain,
      'text',
      (wanted) => `right(to_address, length(${wanted}) + 1) = '@' || ${wanted}`,
    ),
    ...(hasNotLeft ? [NOT_LEFT] : []),
    ...values.given(
      failureClass,
      'text',
      (wanted) =>
        `(status IN ('BOUNCED', 'FAILED') OR ${NOT_LEFT}) AND ${failureClassOf('emails.id')} = ${wanted}`,
    ),
  ];
  const [indexed = { equalities: [], predicate: [] }, ...rest] = withIndex;
  return { indexed, others: [...rest.flatMap(termsOf), ...others] };
}
