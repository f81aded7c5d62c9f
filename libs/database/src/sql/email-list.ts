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

/** The filters with an index of their own, and their columns, most selective first: the first filter given decides which index is used. */
const COLUMNS = [
  ['to', 'to_address'],
  ['template', 'template_name'],
  ['groupBy', 'group_by'],
] as const;

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
 * Indexes: emails_by_recipient_idx, emails_by_template_idx, emails_by_group_idx or emails_by_workspace_idx, each from where the window starts (the last two
 * include the status); emails_pkey for the rows returned. Time bounds are expressed as bounds of the id, so that other monthly partitions are pruned.
 * Locks: none.
 */
export function listEmails(workspaceId: WorkspaceId, filter: EmailFilter, window: ScanWindow): Statement {
  const values = new Values();
  const workspace = `workspace_id = ${values.add(uuidOf(workspaceId), 'uuid')}`;
  const conditions = conditionsOf(filter, values);
  return boundedScan(window, values, {
    table: 'emails',
    indexConditions: [workspace, ...conditions.slice(0, 1), ...boundsOf(filter, window, values)],
    filters: [...conditions.slice(1), ...statusOf(filter, values)],
    shown: SHOWN_EMAIL,
  });
}

/** The conditions other than status and time; the first one has an index of its own. */
export function conditionsOf(filter: EmailFilter, values: Values): string[] {
  return COLUMNS.flatMap(([name, column]) =>
    values.given(filter[name], 'text', (wanted) => `${column} = ${wanted}`),
  );
}

/** The condition on the status, which has no index of its own: the other indexes include it, so that other emails need not be read from the table. */
export function statusOf({ status }: EmailFilter, values: Values): string[] {
  return values.given(status, 'email_status', (wanted) => `status = ${wanted}`);
}
