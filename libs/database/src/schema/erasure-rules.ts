import {
  ATTEMPTS,
  CONTENTS,
  DELIVERIES,
  DOMAIN_CHECKS,
  EVENTS,
  IDEMPOTENCY_KEYS,
  ownRows,
  ROWS_OF_EMAILS,
  rowsOfInstallation,
  TEMPLATE_VERSIONS,
  WORKSPACE,
  type WorkspaceRows,
} from './workspace-rows.ts';

/** Unsent emails must be sent as the workspace wrote them, so only finished ones are redacted. */
const FINISHED = (id: string): string => `NOT EXISTS (SELECT FROM outbox o WHERE o.subject_id = t.${id})`;

/**
 * Excludes rows that are only about the person. Those that were created or finished after the others had been deleted are kept and counted: the next
 * run finds them by the address, and deletes them. $1 text[]: the spellings of the address, in lower case.
 */
const OF_ANOTHER = (address: string): string => `lower(${address}) <> ALL ($1::text[])`;
/** The same for an event, which is about the person of its email, contact or member. */
const ABOUT_ANOTHER = `NOT EXISTS (
  SELECT FROM json_each(t.payload::json -> 'data') AS d (name, subject)
  WHERE lower(d.subject ->> 'to') = ANY ($1::text[]) OR lower(d.subject ->> 'email') = ANY ($1::text[]))`;

/** How a table is redacted, once the rows that are only about the person have been deleted. */
export interface ErasureRule {
  /** `redacted`: the address is replaced by `[erased]`. `kept`: it stays, and the receipt says in how many rows. */
  readonly how: 'redacted' | 'kept';
  /** Which rows are those of a workspace; those of the whole installation are searched with the system's workspace. Absent: it has no personal text. */
  readonly ofWorkspace?: WorkspaceRows;
  /** Which rows `t` may be changed. */
  readonly where?: string;
}

const redacted = (table: string): ErasureRule => ({ how: 'redacted', ofWorkspace: ownRows(table) });
const kept = (table: string): ErasureRule => ({ how: 'kept', ofWorkspace: ownRows(table) });
const withoutPersons = { how: 'kept' } as const;

/** Every table has a rule; a test compares this with the schema. */
export const ERASURE_RULES: Readonly<Record<string, ErasureRule>> = {
  emails: { ...redacted('emails'), where: `${FINISHED('id')} AND ${OF_ANOTHER('t.to_address')}` },
  email_contents: { how: 'redacted', ofWorkspace: CONTENTS, where: FINISHED('email_id') },
  email_events: { how: 'redacted', ofWorkspace: ROWS_OF_EMAILS },
  email_engagements: { how: 'redacted', ofWorkspace: ROWS_OF_EMAILS },
  events: { how: 'redacted', ofWorkspace: EVENTS, where: ABOUT_ANOTHER },
  webhook_deliveries: { how: 'redacted', ofWorkspace: DELIVERIES },
  webhook_attempts: { how: 'redacted', ofWorkspace: ATTEMPTS },
  idempotency_keys: { how: 'redacted', ofWorkspace: IDEMPOTENCY_KEYS },
  audit_log: redacted('audit_log'),
  contacts: { ...redacted('contacts'), where: OF_ANOTHER('t.email') },
  invitations: { ...redacted('invitations'), where: OF_ANOTHER('t.email') },
  // What workspaces wrote themselves, and what they, or a person as their member, work with.
  templates: kept('templates'),
  template_versions: { how: 'kept', ofWorkspace: TEMPLATE_VERSIONS },
  identities: kept('identities'),
  domain_checks: { how: 'kept', ofWorkspace: DOMAIN_CHECKS },
  api_keys: kept('api_keys'),
  webhooks: kept('webhooks'),
  users: { how: 'kept', ofWorkspace: rowsOfInstallation('users', 'id', 'uuid') },
  workspaces: { how: 'kept', ofWorkspace: WORKSPACE },
  operator_accounts: { how: 'kept', ofWorkspace: rowsOfInstallation('operator_accounts', 'id', 'uuid') },
  operator_sessions: {
    how: 'kept',
    ofWorkspace: rowsOfInstallation('operator_sessions', 'token_hash', 'bytea'),
  },
  paused_lanes: {
    how: 'kept',
    ofWorkspace: rowsOfInstallation('paused_lanes', 'lane_id', 'text', {
      name: 'd.queue',
      type: 'outbox_queue',
    }),
  },
  relay_views: {
    how: 'kept',
    ofWorkspace: rowsOfInstallation('relay_views', 'relay', 'text', { name: 'd.observer', type: 'text' }),
  },
  // These have no personal text, only ids, numbers, times and fixed words. Those of a workspace are searched all the same.
  memberships: kept('memberships'),
  suppressions: kept('suppressions'),
  erased_recipients: kept('erased_recipients'),
  invitation_mails: kept('invitation_mails'),
  verification_links: kept('verification_links'),
  webhook_notices: kept('webhook_notices'),
  webhook_recoveries: kept('webhook_recoveries'),
  retention_rounds: kept('retention_rounds'),
  usage: kept('usage'),
  dkim_keys: withoutPersons,
  domain_notices: withoutPersons,
  outbox: withoutPersons,
  slow_lanes: withoutPersons,
  event_eras: withoutPersons,
  rate_minutes: withoutPersons,
  // One has the address until it is completed.
  erasures: withoutPersons,
};
