/** Whether a row `t` belongs to the workspace. $3 uuid: the workspace. */
const OWN = 't.workspace_id = $3::uuid';
/** The same for tables without a workspace column. */
const OF_EMAIL = 'EXISTS (SELECT FROM emails e WHERE e.id = t.email_id AND e.workspace_id = $3::uuid)';
const OF_DELIVERY =
  'EXISTS (SELECT FROM webhook_deliveries d WHERE d.id = t.delivery_id AND d.workspace_id = $3::uuid)';
const OF_TEMPLATE =
  'EXISTS (SELECT FROM templates p WHERE p.id = t.template_id AND p.workspace_id = $3::uuid)';

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
  /**
   * Whether a row `t` belongs to the workspace; absent: the table belongs to the whole installation, and is skipped when one workspace is
   * given.
   */
  readonly scope?: string;
  /** Which rows `t` may be changed. */
  readonly where?: string;
  /** How many rows are read at a time. Default: 2,000. */
  readonly group?: number;
}

const redacted = { how: 'redacted', scope: OWN } as const;
const kept = { how: 'kept', scope: OWN } as const;
const keptOfInstallation = { how: 'kept' } as const;

/** Every table has a rule; a test compares this with the schema. */
export const ERASURE_RULES: Readonly<Record<string, ErasureRule>> = {
  emails: { ...redacted, where: `${FINISHED('id')} AND ${OF_ANOTHER('t.to_address')}` },
  // Each can have ten megabytes.
  email_contents: { how: 'redacted', scope: OF_EMAIL, where: FINISHED('email_id'), group: 100 },
  email_events: { how: 'redacted', scope: OF_EMAIL },
  email_engagements: redacted,
  events: { ...redacted, where: ABOUT_ANOTHER },
  webhook_deliveries: redacted,
  webhook_attempts: { how: 'redacted', scope: OF_DELIVERY },
  idempotency_keys: redacted,
  audit_log: redacted,
  contacts: { ...redacted, where: OF_ANOTHER('t.email') },
  invitations: { ...redacted, where: OF_ANOTHER('t.email') },
  // What workspaces wrote themselves, and what they, or a person as their member, work with.
  templates: kept,
  template_versions: { how: 'kept', scope: OF_TEMPLATE },
  identities: kept,
  dkim_keys: keptOfInstallation,
  domain_checks: keptOfInstallation,
  domain_notices: keptOfInstallation,
  api_keys: kept,
  webhooks: kept,
  users: keptOfInstallation,
  workspaces: { how: 'kept', scope: 't.id = $3::uuid' },
  operator_accounts: keptOfInstallation,
  paused_lanes: keptOfInstallation,
  // These have no personal text, only ids, numbers, times and fixed words. They are searched all the same.
  memberships: kept,
  suppressions: kept,
  erased_recipients: kept,
  invitation_mails: kept,
  verification_links: kept,
  webhook_notices: kept,
  webhook_recoveries: kept,
  retention_rounds: kept,
  usage: kept,
  outbox: keptOfInstallation,
  slow_lanes: keptOfInstallation,
  event_eras: keptOfInstallation,
  operator_sessions: keptOfInstallation,
  rate_minutes: keptOfInstallation,
  relay_views: keptOfInstallation,
};
