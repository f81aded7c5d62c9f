import { uuidOf, type WorkspaceId } from '@posthorn/kernel';
import type { EmailStatus } from '@posthorn/domain';
import {
  boundsOf,
  type CreatedBetween,
  boundedScan,
  type Statement,
  type ScanWindow,
  Values,
} from './statement.ts';

/** Filters for a list of emails; times are those of acceptance. */
export interface EmailFilter extends CreatedBetween {
  readonly status?: EmailStatus | undefined;
  /** The recipient's address as stored: with the domain in lower-case ASCII. */
  readonly to?: string | undefined;
  readonly groupBy?: string | undefined;
  readonly template?: string | undefined;
}

/** The columns of a summary of `emails e`. */
export const EMAIL_SUMMARY_COLUMNS = `e.id, e.type, e.status, e.from_address AS "fromAddress", e.to_address AS "toAddress", e.subject,
       e.template_name AS "templateName", e.message_id AS "messageId", e.group_by AS "groupBy", e.send_at AS "sendAt",
       e.accepted_at AS "acceptedAt", e.sent_at AS "sentAt"`;

/** What is shown of an email in a list; for {@link boundedScan}. */
export const SHOWN_EMAIL = `${EMAIL_SUMMARY_COLUMNS}
FROM     given g
JOIN     emails e ON e.id = g.id`;

/**
 * Scans a workspace's emails: see {@link boundedScan}.
 *
 * Indexes: emails_by_recipient_idx, emails_scheduled_idx, emails_by_template_idx, emails_by_group_idx or emails_by_workspace_idx, each from where the window
 * starts (the last two include the status); emails_pkey for the rows returned. Time bounds are expressed as bounds of the id, so that other monthly
 * partitions are pruned. Locks: none.
 */
export function listEmails(workspaceId: WorkspaceId, filter: EmailFilter, window: ScanWindow): Statement {
  const values = new Values();
  const workspace = `workspace_id = ${values.add(uuidOf(workspaceId), 'uuid')}`;
  const { indexed, others } = conditionsOf(filter, values);
  return boundedScan(window, values, {
    table: 'emails',
    indexConditions: [workspace, ...indexed, ...boundsOf(filter, window, values)],
    filters: others,
    shown: SHOWN_EMAIL,
  });
}

/** The conditions of a filter, without those on the time. */
interface Conditions {
  /** The most selective of those that, together with the workspace, have an index of their own; empty: none has. */
  readonly indexed: readonly string[];
  /** The others. A status other than SCHEDULED is one of them: indexes include it, so that other emails need not be read from the table. */
  readonly others: readonly string[];
}

export function conditionsOf({ to, status, template, groupBy }: EmailFilter, values: Values): Conditions {
  const isScheduled = status === 'SCHEDULED';
  const withIndex = [
    ...values.given(to, 'text', (wanted) => `to_address = ${wanted}`),
    // Word for word what is in the index: all scheduled emails have a send_at.
    ...(isScheduled ? [`status = 'SCHEDULED' AND send_at IS NOT NULL`] : []),
    ...values.given(template, 'text', (wanted) => `template_name = ${wanted}`),
    ...values.given(groupBy, 'text', (wanted) => `group_by = ${wanted}`),
  ];
  const otherStatus = isScheduled ? undefined : status;
  const others = values.given(otherStatus, 'email_status', (wanted) => `status = ${wanted}`);
  return { indexed: withIndex.slice(0, 1), others: [...withIndex.slice(1), ...others] };
}
