import { type ColumnType, rowsOf } from './binary-array.ts';
import { verifiedValues } from './allowed-senders.ts';
import { takeKeys } from './idempotency-keys.ts';
import { MONTH_OF_ACCEPTANCE } from './month.ts';

/** The array parameters of ACCEPT_EMAILS: one column of the emails each, in this order. */
export const ACCEPT_COLUMNS = {
  n: 'int',
  id: 'uuid',
  workspace_id: 'uuid',
  type: 'text',
  status: 'text',
  from_address: 'text',
  from_name: 'text',
  from_domain: 'text',
  to_address: 'text',
  to_name: 'text',
  reply_to: 'text',
  subject: 'text',
  template_name: 'text',
  template_version_id: 'uuid',
  message_id: 'text',
  group_by: 'text',
  email_key: 'text',
  call_key: 'text',
  track_clicks: 'boolean',
  track_opens: 'boolean',
  unsubscribe: 'boolean',
  send_at: 'timestamptz',
  accepted_at: 'timestamptz',
  html: 'text',
  text: 'text',
  preview_text: 'text',
  variables: 'text',
  attachments: 'text',
  lane_id: 'text',
  state: 'text',
  due_at: 'timestamptz',
  bytes: 'int',
  traceparent: 'text',
} as const satisfies Record<string, ColumnType>;

/** The array parameters of ACCEPT_KEYED_EMAILS; the additional ones are for emails with an idempotency key of their own. */
export const ACCEPT_KEYED_COLUMNS = {
  ...ACCEPT_COLUMNS,
  fingerprint: 'bytea',
  answer: 'text',
  key_expires_at: 'timestamptz',
} as const satisfies Record<string, ColumnType>;

/** The columns of a row, and what each is made of: expressions over ACCEPT_COLUMNS. */
type InsertedRow = Readonly<Record<string, string>>;

const OUTBOX_ROW: InsertedRow = {
  subject_id: 'id',
  queue: `'email'`,
  lane_id: 'lane_id',
  state: 'state::outbox_state',
  due_at: 'due_at',
  bytes: 'bytes',
};

const EMAIL_ROW: InsertedRow = {
  id: 'id',
  workspace_id: 'workspace_id',
  type: 'type::email_type',
  status: 'status::email_status',
  from_address: 'from_address',
  from_name: 'from_name',
  to_address: 'to_address',
  to_name: 'to_name',
  reply_to: 'reply_to::jsonb',
  subject: 'subject',
  template_name: 'template_name',
  template_version_id: 'template_version_id',
  message_id: 'message_id',
  group_by: 'group_by',
  idempotency_keys: 'array_remove(ARRAY[email_key, call_key], NULL)',
  track_clicks: 'track_clicks',
  track_opens: 'track_opens',
  unsubscribe: 'unsubscribe',
  send_at: 'send_at',
  accepted_at: 'accepted_at',
  traceparent: 'traceparent',
};

const CONTENT_ROW: InsertedRow = {
  email_id: 'id',
  html: 'html',
  text: 'text',
  preview_text: 'preview_text',
  variables: 'variables::json',
  attachments: 'attachments::json',
};

/**
 * Accepts a group of emails of any size, from any number of workspaces.
 *
 * $1 int: the installation's monthly limit (null: none). The others: ACCEPT_COLUMNS, an array each.
 *
 * Returns one row with the numbers of the accepted emails and the time, and one row for each refused email. (A row for each accepted email would add no
 * information, but take time on both sides.)
 *
 * Indexes: identities_workspace_value_key for the senders (and, in its order, for the allowed senders in a refusal); workspaces_pkey and usage_pkey
 * for the limit.
 * Locks: the usage rows, in the order of workspace and month, before anything else is written. They make the limit exact: a second group of the same
 * workspace waits there and (READ COMMITTED) continues from the sum that the first one has committed. All parts after `grant` depend on its rows, which
 * forces this order.
 * `usage.granted` is what this statement was granted: before Postgres 18, RETURNING cannot compare old and new values.
 * An email counts in the month of its acceptance, whenever this runs; cancelling it decrements the same month.
 */
export const ACCEPT_EMAILS = acceptEmails(ACCEPT_COLUMNS, { candidates: 'sender', takenBefore: '' });

/**
 * The same for a group in which some emails have idempotency keys. Of the emails with the same key, the first whose sender is verified takes the key and is
 * then treated like an email without one. (Not simply the first: a refusal does not use up a key.)
 *
 * The result contains no email whose key belongs to somebody else, and no verified email after the first one with its key: the caller derives their outcome
 * from that of the key. The caller must give back a key whose emails are all refused, in the same transaction.
 *
 * $1 int, as above. The others: ACCEPT_KEYED_COLUMNS, an array each.
 *
 * Indexes: idempotency_keys_pkey, and as above. Locks: the keys, as TAKE_IDEMPOTENCY_KEYS, then as above.
 */
export const ACCEPT_KEYED_EMAILS = acceptEmails(ACCEPT_KEYED_COLUMNS, {
  candidates: 'candidate',
  takenBefore: `
claim AS MATERIALIZED (
  SELECT *, row_number() OVER (PARTITION BY workspace_id, email_key ORDER BY verified DESC, n) = 1 AS is_first FROM sender
),
taken AS (
  ${takeKeys(`SELECT i.workspace_id, i.email_key, i.fingerprint, i.answer, i.key_expires_at
  FROM   item i
  JOIN   claim c ON c.n = i.n
  WHERE  c.is_first AND c.email_key IS NOT NULL`)}
),
candidate AS (
  SELECT c.n, c.workspace_id, c.month, c.verified
  FROM   claim c
  LEFT JOIN taken t ON t.workspace_id = c.workspace_id AND t.key = c.email_key
  WHERE  c.email_key IS NULL
  OR     t.key IS NOT NULL AND (c.is_first OR NOT c.verified)
),`,
});

function acceptEmails(
  columns: Readonly<Record<string, ColumnType>>,
  { candidates, takenBefore }: { readonly candidates: string; readonly takenBefore: string },
): string {
  // As much of the demand as the month has left.
  const granted =
    'least(excluded.granted, greatest(coalesce(excluded.monthly_limit - u.accepted, excluded.granted), 0))';
  return `
WITH item AS MATERIALIZED (
  SELECT * FROM ${rowsOf(columns, 'i', 2)}
),
sender AS MATERIALIZED (
  SELECT n, workspace_id, email_key, ${MONTH_OF_ACCEPTANCE} AS month,
         EXISTS (
           SELECT FROM identities d
           WHERE  d.workspace_id = i.workspace_id
           AND    d.value IN (i.from_address, i.from_domain)
           AND    d.verified_at IS NOT NULL) AS verified
  FROM   item i
),${takenBefore}
permitted AS (
  SELECT n, workspace_id, month, row_number() OVER (PARTITION BY workspace_id, month ORDER BY n) AS position
  FROM   ${candidates}
  WHERE  verified
),
demand AS (
  SELECT w.id AS workspace_id, p.month, p.wanted,
         nullif(coalesce(w.monthly_email_limit, $1::int), 0) AS monthly_limit
  FROM   (SELECT workspace_id, month, count(*)::int AS wanted FROM permitted GROUP BY workspace_id, month) p
  JOIN   workspaces w ON w.id = p.workspace_id
),
"grant" AS (
  INSERT INTO usage AS u (workspace_id, month, accepted, granted, monthly_limit)
  SELECT   workspace_id, month, least(wanted, monthly_limit), least(wanted, monthly_limit), monthly_limit
  FROM     demand
  ORDER BY workspace_id, month
  ON CONFLICT (workspace_id, month) DO UPDATE
  SET    granted       = ${granted},
         accepted      = u.accepted + ${granted},
         monthly_limit = excluded.monthly_limit
  RETURNING workspace_id, month, accepted, granted, monthly_limit
),
accepted AS (
  SELECT i.*
  FROM   permitted p
  JOIN   "grant" g ON g.workspace_id = p.workspace_id AND g.month = p.month AND p.position <= g.granted
  JOIN   item i ON i.n = p.n
),
new_outbox AS (${insertAccepted('outbox', OUTBOX_ROW)}),
new_emails AS (${insertAccepted('emails', EMAIL_ROW)}),
new_contents AS (${insertAccepted('email_contents', CONTENT_ROW)})
SELECT ARRAY(SELECT n FROM accepted) AS accepted, clock_timestamp() AS now, NULL::int AS n, NULL::text AS outcome,
       NULL::int AS used, NULL::int AS "monthlyLimit", NULL::text[] AS addresses, NULL::text[] AS domains, NULL::json AS unverified
UNION ALL
SELECT   NULL, NULL, i.n, CASE WHEN p.n IS NULL THEN 'unverified' ELSE 'over_limit' END, g.accepted, g.monthly_limit,
         CASE WHEN p.n IS NULL THEN ${verifiedValues('address')} END,
         CASE WHEN p.n IS NULL THEN ${verifiedValues('domain')} END,
         CASE WHEN p.n IS NULL THEN (
           SELECT json_build_object('id', type_id('idn', d.id), 'value', d.value)
           FROM   item s
           JOIN   identities d ON d.workspace_id = s.workspace_id AND d.value IN (s.from_address, s.from_domain)
           WHERE  s.n = i.n
           ORDER BY d.kind DESC LIMIT 1) END
FROM     ${candidates} i
LEFT JOIN permitted p ON p.n = i.n
LEFT JOIN "grant" g ON g.workspace_id = p.workspace_id AND g.month = p.month
WHERE    p.n IS NULL OR p.position > coalesce(g.granted, 0)`;
}

/** Inserts a row for each accepted email. */
function insertAccepted(table: string, row: InsertedRow): string {
  return `
  INSERT INTO ${table} (${Object.keys(row).join(', ')})
  SELECT ${Object.values(row).join(', ')} FROM accepted
`;
}

/** Which of these emails exist, durably on the synchronous standby too (see FIND_ANSWER). Index: emails_pkey. Locks: the emails, which conflicts only with deleting them. */
export const FIND_EMAILS = 'SELECT id FROM emails WHERE id = ANY($1::uuid[]) FOR KEY SHARE';
