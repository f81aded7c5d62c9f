import { uuidOf, type WorkspaceId } from '@posthorn/kernel';
import type { EmailStatus } from '@posthorn/domain';
import {
  boundsOf,
  type CreatedBetween,
  readStretch,
  type Statement,
  type Stretch,
  Values,
} from './statement.ts';

/** Which emails of a workspace are asked for, by the time of their acceptance among others; what is absent does not matter. */
export interface EmailFilter extends CreatedBetween {
  readonly status?: EmailStatus | undefined;
  /** The recipient's address, as it is kept: its domain in lower-case ASCII. */
  readonly to?: string | undefined;
  readonly groupBy?: string | undefined;
  readonly template?: string | undefined;
}

/** The filters that have an index each, by their columns. The first that is given decides which one is read; the rarer, the earlier. */
const COLUMNS = [
  ['to', 'to_address'],
  ['template', 'template_name'],
  ['groupBy', 'group_by'],
] as const;

/** What is shown of an email in a list: see {@link readStretch}. */
export const SHOWN_EMAIL = `e.id, e.type, e.status, e.from_address AS "fromAddress", e.to_address AS "toAddress", e.subject,
       e.template_name AS "templateName", e.message_id AS "messageId", e.group_by AS "groupBy", e.send_at AS "sendAt",
       e.accepted_at AS "acceptedAt", e.sent_at AS "sentAt"
FROM     given g
JOIN     emails e ON e.id = g.id`;

/**
 * Reads a stretch of a workspace's emails: see {@link readStretch}.
 *
 * Indexes: emails_by_recipient_idx, emails_by_template_idx, emails_by_group_idx or emails_by_workspace_idx, each from the place
 * where the stretch begins (the last two have the status beside the key); emails_pkey for what is given. The bounds of time
 * are bounds of the id, so that only the months between them are looked at. Locks: none.
 */
export function listEmails(workspaceId: WorkspaceId, filter: EmailFilter, stretch: Stretch): Statement {
  const values = new Values();
  const workspace = `workspace_id = ${values.add(uuidOf(workspaceId), 'uuid')}`;
  const conditions = conditionsOf(filter, values);
  return readStretch(stretch, values, {
    table: 'emails',
    scanned: [workspace, ...conditions.slice(0, 1), ...boundsOf(filter, stretch, values)],
    sifted: [...conditions.slice(1), ...statusOf(filter, values)],
    shown: SHOWN_EMAIL,
  });
}

/** What is asked for beside status and time; the first has an index of its own. */
export function conditionsOf(filter: EmailFilter, values: Values): string[] {
  return COLUMNS.flatMap(([name, column]) =>
    values.given(filter[name], 'text', (wanted) => `${column} = ${wanted}`),
  );
}

/** A status has no index of its own: the other indexes include it, so that emails with another status need not be read. */
export function statusOf({ status }: EmailFilter, values: Values): string[] {
  return values.given(status, 'email_status', (wanted) => `status = ${wanted}`);
}
