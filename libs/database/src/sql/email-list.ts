import { uuidOf, type WorkspaceId } from '@posthorn/kernel';
import type { EmailStatus } from '@posthorn/domain';
import { boundsOf, type CreatedBetween, type Statement, type Stretch, Values } from './statement.ts';

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

/** What is shown of an email `e` in a list. */
export const SHOWN_EMAIL = `e.id, e.type, e.status, e.from_address AS "fromAddress", e.to_address AS "toAddress", e.subject,
       e.template_name AS "templateName", e.message_id AS "messageId", e.group_by AS "groupBy", e.send_at AS "sendAt",
       e.accepted_at AS "acceptedAt", e.sent_at AS "sentAt"`;

/**
 * Reads a stretch of a workspace's emails in the order of their ids, which is the order of time. It looks at no more than
 * `mostSeen` emails, whatever is asked and however few of them match: `n` numbers what it looks at, and the last that it may
 * look at is given whether it matches or not, so that the reader knows where to go on.
 *
 * Indexes: emails_by_recipient_idx, emails_by_template_idx, emails_by_group_idx or emails_by_workspace_idx, each from the place
 * where the stretch begins (the last two have the status beside the key); emails_pkey for what is given. The bounds of time
 * are bounds of the id, so that only the months between them are looked at. Locks: none.
 */
export function listEmails(workspaceId: WorkspaceId, filter: EmailFilter, stretch: Stretch): Statement {
  const values = new Values();
  const order = stretch.sort === 'createdAt.asc' ? 'ASC' : 'DESC';
  const [narrowing, ...others] = conditionsOf(filter, values);
  const sifting = [...others, ...statusOf(filter, values)];
  const scanned = [
    `workspace_id = ${values.add(uuidOf(workspaceId), 'uuid')}`,
    ...(narrowing === undefined ? [] : [narrowing]),
    ...boundsOf(filter, stretch, values),
  ];
  const mostSeen = values.add(stretch.mostSeen, 'int');
  const text = `
WITH seen AS (
  SELECT   id, row_number() OVER (ORDER BY id ${order})::int AS n, ${sifting.join(' AND ') || 'true'} AS matches
  FROM     emails
  WHERE    ${scanned.join('\n  AND      ')}
  ORDER BY id ${order}
  LIMIT    ${mostSeen}
),
given AS (
  SELECT * FROM seen WHERE matches OR n = ${mostSeen} ORDER BY id ${order} LIMIT ${values.add(stretch.mostGiven, 'int')}
)
SELECT   g.n, g.matches, ${SHOWN_EMAIL}
FROM     given g
JOIN     emails e ON e.id = g.id
ORDER BY e.id ${order}`;
  return { text, values: values.list };
}

/** What is asked for beside status and time; the first has an index of its own. */
export function conditionsOf(filter: EmailFilter, values: Values): string[] {
  return COLUMNS.filter(([name]) => filter[name] !== undefined).map(
    ([name, column]) => `${column} = ${values.add(filter[name], 'text')}`,
  );
}

/** A status has no index of its own: the other indexes include it, so that emails with another status need not be read. */
export function statusOf({ status }: EmailFilter, values: Values): string[] {
  return status === undefined ? [] : [`status = ${values.add(status, 'email_status')}`];
}
