import { beforeAll, describe, expect, it } from '@jest/globals';
import { newUuid } from '@posthorn/kernel';
import type pg from 'pg';
import { openTestClient } from '../open-test-client.fixture.ts';

const CHECK_VIOLATION = '23514';
const UNIQUE_VIOLATION = '23505';
const NO_SUCH_WORKSPACE = '23503';

const { client } = await openTestClient();
const workspace = newUuid(Date.now());
const id = newUuid(Date.now());
const identity = newUuid(Date.now());
/** An existing template with a version: they refer to each other. */
const template = newUuid(Date.now());
const invitation = newUuid(Date.now());
/** An existing account of the dashboard. */
const operator = newUuid(Date.now());
/** An existing webhook. */
const webhook = newUuid(Date.now());

/** A valid row of each table, in SQL. */
const GOOD: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  workspaces: { id: 'gen_random_uuid()', name: `'Acme'` },
  api_keys: {
    id: 'gen_random_uuid()',
    workspace_id: `'${workspace}'`,
    display_name: `'Key'`,
    role: `'EDITOR'`,
    secret_hash: `sha256('secret')`,
    secret_hint: `'re_…ab'`,
  },
  identities: {
    id: 'gen_random_uuid()',
    workspace_id: `'${workspace}'`,
    kind: `'domain'`,
    value: `'example.com'`,
  },
  erased_recipients: { workspace_id: `'${workspace}'`, address_hash: `sha256('ada')` },
  usage: { workspace_id: `'${workspace}'`, month: `'2026-11-01'`, accepted: '1', granted: '1' },
  emails: {
    id: `'${id}'`,
    workspace_id: `'${workspace}'`,
    type: `'raw'`,
    status: `'SENT'`,
    from_address: `'a@example.com'`,
    to_address: `'b@example.net'`,
    subject: `''`,
    message_id: `'x@example.com'`,
    track_clicks: 'false',
    track_opens: 'false',
    accepted_at: 'now()',
  },
  email_contents: { email_id: `'${id}'`, html: `''` },
  email_events: { email_id: `'${id}'`, kind: `'SENT'` },
  email_engagements: {
    email_id: `'${id}'`,
    workspace_id: `'${workspace}'`,
    opens: '0',
    clicks: '0',
    machine_opens: '0',
    machine_clicks: '0',
  },
  idempotency_keys: {
    workspace_id: `'${workspace}'`,
    key: `'k'`,
    fingerprint: `sha256('x')`,
    answer: `'{}'`,
    expires_at: 'now()',
  },
  outbox: {
    subject_id: `'${id}'`,
    queue: `'email'`,
    lane_id: `'lane'`,
    state: `'ready'`,
    due_at: 'now()',
  },
  paused_lanes: { queue: `'email'`, lane_id: `'*'`, reason: `'incident'` },
  audit_log: {
    id: `'${id}'`,
    workspace_id: `'${workspace}'`,
    action: `'api_key.created'`,
    actor: `'{}'`,
    subject_id: `'x'`,
  },
  templates: {
    id: `'${id}'`,
    workspace_id: `'${workspace}'`,
    name: `'welcome'`,
    current_version_id: `'${id}'`,
  },
  template_versions: {
    id: `'${id}'`,
    template_id: `'${template}'`,
    number: '2',
    from_address: `'a@example.com'`,
    subject: `''`,
    html: `''`,
    required: `'{}'`,
  },
  webhooks: {
    id: `'${id}'`,
    workspace_id: `'${workspace}'`,
    url: `'https://example.com'`,
    events: `'{CONTACT_CREATED}'`,
    token: `''`,
  },
  webhook_deliveries: {
    id: `'${id}'`,
    workspace_id: `'${workspace}'`,
    webhook_id: `'${id}'`,
    event_id: `'${id}'`,
  },
  webhook_attempts: {
    delivery_id: `'${id}'`,
    claims: '1',
    number: '1',
    status_code: '200',
    duration_ms: '0',
  },
  slow_lanes: { lane_id: `'lane'` },
  webhook_recoveries: {
    id: 'gen_random_uuid()',
    workspace_id: `'${workspace}'`,
    webhook_id: `'${webhook}'`,
    since: `now() - interval '1 day'`,
    until: 'now()',
    seen_to: `'${id}'`,
    created_at: 'now()',
    served_at: 'now()',
  },
  erasures: {
    id: 'gen_random_uuid()',
    workspace_id: `'${workspace}'`,
    address_hash: `sha256('ada@example.com')`,
    address: `'ada@example.com'`,
    is_suppressing: 'false',
    created_at: 'now()',
    next_at: 'now()',
  },
  domain_notices: { identity_id: `'${identity}'`, kind: `'AT_RISK'` },
  webhook_notices: { workspace_id: `'${workspace}'`, webhook_id: `'${id}'`, kind: `'FAILING'` },
  contacts: { id: `'${id}'`, workspace_id: `'${workspace}'`, email: `'a@example.com'` },
  dkim_keys: {
    id: `'${id}'`,
    identity_id: `'${identity}'`,
    algorithm: `'rsa'`,
    selector: `'ph-1'`,
    public_key: `'AA=='`,
    private_key: `''`,
  },
  domain_checks: { identity_id: `'${identity}'` },
  verification_links: {
    id: `'${id}'`,
    identity_id: `'${id}'`,
    workspace_id: `'${workspace}'`,
    token_hash: `sha256('x')`,
    address_hash: `sha256('x')`,
    created_at: 'now()',
    expires_at: `now() + interval '1 day'`,
  },
  invitation_mails: {
    id: `'${id}'`,
    workspace_id: `'${workspace}'`,
    invitation_id: `'${invitation}'`,
    address_hash: `sha256('x')`,
    created_at: 'now()',
  },
  users: { id: `'${id}'`, email: `'a@example.com'`, name: `'Ada'`, created_at: 'now()' },
  invitations: {
    id: `'${id}'`,
    workspace_id: `'${workspace}'`,
    email: `'a@example.com'`,
    role: `'VIEWER'`,
    token_hash: `sha256('x')`,
    created_at: 'now()',
    expires_at: `now() + interval '7 days'`,
  },
  operator_accounts: { id: `'${id}'`, name: `'grace'`, role: `'viewer'`, password_hash: `'scrypt'` },
  operator_sessions: { token_hash: `sha256('x')`, account_id: `'${operator}'` },
};

beforeAll(async () => {
  await client.query(`INSERT INTO workspaces (id, name) VALUES ('${workspace}', 'Acme')`);
  await client.query(
    `INSERT INTO identities (id, workspace_id, kind, value) VALUES ('${identity}', '${workspace}', 'domain', 'example.org')`,
  );
  await client.query(
    `INSERT INTO templates (id, workspace_id, name, current_version_id)
     VALUES ('${template}', '${workspace}', 'there', '${template}');
     INSERT INTO template_versions (id, template_id, number, from_address, subject, html, required)
     VALUES ('${template}', '${template}', 1, 'a@example.com', '', '', '{}')`,
  );
  await client.query(
    `INSERT INTO webhooks (id, workspace_id, url, events, token)
     VALUES ('${webhook}', '${workspace}', 'https://example.com', '{CONTACT_CREATED}', '')`,
  );
  await client.query(
    `INSERT INTO invitations (id, workspace_id, email, role, token_hash, created_at, expires_at)
     VALUES ('${invitation}', '${workspace}', 'b@example.com', 'VIEWER', sha256('b'), now(), now() + interval '1 day')`,
  );
  await client.query(
    `INSERT INTO operator_accounts (id, name, role, password_hash) VALUES ('${operator}', 'ada', 'operator', 'scrypt')`,
  );
});

/** The error with which the database refuses these rows; undefined if it accepts them. */
async function refusal(
  table: string,
  ...changes: Record<string, string>[]
): Promise<pg.DatabaseError | undefined> {
  await client.query('BEGIN');
  try {
    for (const change of changes) {
      const row = { ...GOOD[table], ...change };
      const [columns, values] = [Object.keys(row).join(', '), Object.values(row).join(', ')];
      await client.query(`INSERT INTO ${table} (${columns}) VALUES (${values})`);
    }
    return undefined;
  } catch (error) {
    return error as pg.DatabaseError;
  } finally {
    await client.query('ROLLBACK');
  }
}

describe('The database accepts', () => {
  it.each(Object.keys(GOOD))('a valid row of %s', async (table) => {
    expect(await refusal(table, {})).toBeUndefined();
  });

  it.each<[string, Record<string, string>]>([
    ['workspaces', { name: `repeat('ü', 100)`, monthly_email_limit: '0' }],
    ['workspaces', { tracking_url: `'http://[2001:db8::1]:8080'` }],
    ['identities', { kind: `'address'`, value: `'a@example.com'` }],
    ['emails', { status: `'SCHEDULED'`, send_at: 'now()' }],
    ['emails', { status: `'DELIVERED'`, sent_at: 'now()', group_by: `repeat('x', 255)`, reply_to: `'[]'` }],
    [
      'emails',
      { type: `'templated'`, subject: 'NULL', template_name: `'x'`, template_version_id: `'${id}'` },
    ],
    ['email_contents', { html: 'NULL', variables: `'{}'` }],
    ['templates', { name: `repeat('ü', 255)` }],
    ['template_versions', { reply_to: `'[]'`, defaults: `'{"b": 1, "a": 2}'`, text: `''` }],
    ['webhook_deliveries', { status: `'SUCCEEDED'`, finished_at: 'now()' }],
    ['webhook_attempts', { body: `repeat('ü', 4096)`, headers: `'{}'` }],
    ['webhook_attempts', { status_code: 'NULL', error_class: `'timeout'`, reason: `repeat('x', 1000)` }],
    ['webhooks', { failing_since: 'now()', warned_at: 'now()' }],
    ['idempotency_keys', { key: `repeat('k', 255)` }],
    ['outbox', { state: `'taken'`, lease_until: 'now()' }],
    ['outbox', { state: `'ready'`, lease_until: 'now()' }],
    ['outbox', { lane_id: `repeat('l', 64)` }],
  ])('a row of %s at a limit: %j', async (table, change) => {
    expect(await refusal(table, change)).toBeUndefined();
  });
});

/** Of each CHECK constraint at least one row. */
const REFUSED: readonly [string, Record<string, string>][] = [
  ['workspaces', { name: `''` }],
  ['workspaces', { name: `repeat('x', 101)` }],
  ['workspaces', { monthly_email_limit: '-1' }],
  ['api_keys', { display_name: `''` }],
  ['api_keys', { display_name: `repeat('x', 101)` }],
  ['api_keys', { secret_hash: `'\\x00'` }],
  ['identities', { kind: `'address'` }],
  ['identities', { value: `'a@example.com'` }],
  ['usage', { month: `'2026-11-02'` }],
  ['usage', { accepted: '-1' }],
  ['usage', { granted: '-1' }],
  ['usage', { monthly_limit: '0' }],
  ['emails', { status: `'SCHEDULED'` }],
  ['emails', { status: `'SCHEDULED'`, send_at: 'now()', sent_at: 'now()' }],
  ['emails', { status: `'SUPPRESSED'`, sent_at: 'now()' }],
  ['emails', { status: `'CANCELLED'`, sent_at: 'now()' }],
  ['emails', { reply_to: `'{}'` }],
  ['emails', { reply_to: `'null'` }],
  ['emails', { group_by: `repeat('x', 256)` }],
  ['email_contents', { html: 'NULL', variables: `'[]'` }],
  ['email_contents', { variables: `'{}'` }],
  ['emails', { subject: 'NULL' }],
  ['emails', { type: `'templated'`, template_name: `'x'` }],
  ['emails', { template_version_id: `'${id}'` }],
  ['emails', { type: `'templated'`, subject: 'NULL', template_version_id: `'${id}'` }],
  ['emails', { type: `'templated'`, subject: 'NULL', template_name: `'x'` }],
  ['email_events', { detail: `'[]'` }],
  ['email_engagements', { opens: '-1' }],
  ['email_engagements', { clicks: '-1' }],
  ['email_engagements', { machine_opens: '-1' }],
  ['email_engagements', { machine_clicks: '-1' }],
  ['idempotency_keys', { key: `''` }],
  ['idempotency_keys', { key: `repeat('k', 256)` }],
  ['idempotency_keys', { fingerprint: `'\\x00'` }],
  ['outbox', { lane_id: `''` }],
  ['outbox', { lane_id: `repeat('l', 65)` }],
  ['outbox', { claims: '-1' }],
  ['outbox', { attempts: '-1' }],
  ['outbox', { unanswered: '-1' }],
  ['outbox', { bytes: '-1' }],
  ['outbox', { state: `'taken'` }],
  ['outbox', { state: `'waiting'`, lease_until: 'now()' }],
  ['paused_lanes', { reason: `''` }],
  ['paused_lanes', { reason: `repeat('x', 501)` }],
  ['identities', { status: `'VERIFIED'` }],
  ['identities', { verified_at: 'now()' }],
  ['dkim_keys', { selector: `'Ph.1'` }],
  ['dkim_keys', { public_key: `''` }],
  ['dkim_keys', { wrong_since: 'now()' }],
  ['dkim_keys', { stage: `'PREVIOUS'` }],
  ['dkim_keys', { private_key: 'NULL' }],
  ['domain_checks', { claims: '-1' }],
  ['domain_checks', { rounds: '-1' }],
  ['domain_checks', { wrong_answers: '-1', wrong_since: 'now()' }],
  ['domain_checks', { findings: `'[]'` }],
  ['domain_checks', { wrong_since: 'now()' }],
  ['domain_checks', { warned_at: 'now()' }],
  ['verification_links', { token_hash: `'\\x00'` }],
  ['verification_links', { address_hash: `'\\x00'` }],
  ['verification_links', { expires_at: 'now()' }],
  ['workspaces', { rate_per_second: '-1' }],
  ['workspaces', { rate_burst: '-1' }],
  ['workspaces', { tracking_url: `'https://links.example.com/'` }],
  ['workspaces', { tracking_url: `'links.example.com'` }],
  ['erased_recipients', { address_hash: `'ada'` }],
  ['workspaces', { content_days: '-1' }],
  ['workspaces', { content_days: '366' }],
  ['workspaces', { metadata_days: '0' }],
  ['workspaces', { event_days: '0' }],
  ['workspaces', { event_days: '366' }],
  ['audit_log', { action: `''` }],
  ['audit_log', { actor: `'[]'` }],
  ['audit_log', { detail: `'[]'` }],
  ['templates', { name: `''` }],
  ['templates', { name: `repeat('x', 256)` }],
  ['template_versions', { number: '0' }],
  ['template_versions', { reply_to: `'{}'` }],
  ['template_versions', { defaults: `'[]'` }],
  ['webhooks', { url: `repeat('x', 2049)` }],
  ['webhooks', { events: `'{}'` }],
  ['webhooks', { warned_at: 'now()' }],
  ['webhooks', { previous_token: `''` }],
  ['webhooks', { previous_token_until: 'now()' }],
  ['webhook_deliveries', { attempts: '-1' }],
  ['webhook_deliveries', { status: `'SUCCEEDED'` }],
  ['webhook_deliveries', { finished_at: 'now()' }],
  ['webhook_attempts', { number: '0' }],
  ['webhook_attempts', { status_code: '99', error_class: `'protocol'` }],
  ['webhook_attempts', { status_code: '500' }],
  ['webhook_attempts', { status_code: 'NULL' }],
  ['webhook_attempts', { error_class: `'timeout'`, reason: `repeat('x', 1001)` }],
  ['webhook_attempts', { headers: `'[]'` }],
  ['webhook_attempts', { body: `repeat('x', 4097)` }],
  ['webhook_attempts', { duration_ms: '-1' }],
  ['operator_accounts', { name: `'Ada'` }],
  ['operator_accounts', { name: `''` }],
  ['operator_accounts', { password_hash: `''` }],
  ['operator_sessions', { token_hash: `'\\x00'` }],
  ['operator_sessions', { account_id: 'NULL' }],
  ['operator_sessions', { name: `'ada@login'`, role: `'viewer'`, issuer: `'https://login'` }],
  ['operator_sessions', { account_id: 'NULL', name: `'ada'`, role: `'viewer'`, issuer: `'https://login'` }],
  ['webhook_recoveries', { since: 'now()' }],
  ['webhook_recoveries', { state: `'COMPLETED'` }],
  ['webhook_recoveries', { total: '-1' }],
  ['webhook_recoveries', { done: '-1' }],
  ['erasures', { address_hash: `'\\x00'` }],
  ['erasures', { state: `'COMPLETED'`, address: 'NULL' }],
  ['erasures', { address: 'NULL' }],
  ['erasures', { searched: '-1' }],
  ['erasures', { cancelled: '-1' }],
  ['erasures', { in_progress: '-1' }],
  ['contacts', { properties: `'[]'` }],
  ['contacts', { status: `'UNSUBSCRIBED'` }],
  ['invitation_mails', { address_hash: `'\\x00'` }],
  ['users', { name: `''` }],
  ['users', { email: `''` }],
  ['invitations', { email: `''` }],
  ['invitations', { token_hash: `'\\x00'` }],
  ['invitations', { name: `repeat('x', 101)` }],
  ['invitations', { expires_at: 'now()' }],
  ['invitations', { accepted_at: 'now()', revoked_at: 'now()' }],
];

describe('The database refuses', () => {
  it.each(REFUSED)('a row of %s with %j', async (table, change) => {
    expect(await refusal(table, change)).toMatchObject({ code: CHECK_VIOLATION });
  });

  it.each<[string, Record<string, string>]>([
    ['api_keys', { id: 'gen_random_uuid()' }],
    ['identities', { id: 'gen_random_uuid()' }],
    ['dkim_keys', { id: 'gen_random_uuid()' }],
    ['domain_checks', {}],
    ['verification_links', { id: 'gen_random_uuid()' }],
    ['usage', {}],
    ['emails', {}],
    ['email_contents', {}],
    ['email_engagements', {}],
    ['email_events', { claims: '1' }],
    ['idempotency_keys', {}],
    ['outbox', {}],
    ['paused_lanes', {}],
    ['slow_lanes', {}],
    ['webhook_deliveries', {}],
    ['webhook_attempts', {}],
    ['webhook_recoveries', { id: 'gen_random_uuid()' }],
    ['erasures', { id: 'gen_random_uuid()' }],
    ['templates', { id: 'gen_random_uuid()' }],
    ['template_versions', { id: 'gen_random_uuid()' }],
    ['users', { id: 'gen_random_uuid()' }],
    ['users', { id: 'gen_random_uuid()', email: `'A@example.com'` }],
    ['invitations', { id: 'gen_random_uuid()' }],
    ['invitations', { id: 'gen_random_uuid()', token_hash: 'sha256(gen_random_uuid()::text::bytea)' }],
  ])('a second row of %s with the same key', async (table, change) => {
    expect(await refusal(table, change, change)).toMatchObject({ code: UNIQUE_VIOLATION });
  });

  it.each(['api_keys', 'identities', 'usage'])('a row of %s without an existing workspace', async (table) => {
    expect(await refusal(table, { workspace_id: 'gen_random_uuid()' })).toMatchObject({
      code: NO_SUCH_WORKSPACE,
    });
  });

  it('an email of a month that has no partition', async () => {
    expect(await refusal('emails', { id: `'00000000-0000-7000-8000-000000000000'` })).toMatchObject({
      code: CHECK_VIOLATION,
    });
  });

  it.each<[string, Record<string, string>[]]>([
    ['a fact without a claim twice: that is no repetition', [{}, {}]],
    ['the same fact of two claims: those are two facts', [{ claims: '1' }, { claims: '2' }]],
  ])('not %s', async (_what, changes) => {
    expect(await refusal('email_events', ...changes)).toBeUndefined();
  });
});

describe('Every CHECK constraint of the database', () => {
  it('refuses at least one row of the table above', async () => {
    const { rows } = await client.query<{ name: string }>(
      `SELECT conrelid::regclass || '.' || conname AS name
       FROM   pg_constraint JOIN pg_class c ON c.oid = conrelid
       WHERE  contype = 'c' AND NOT c.relispartition AND connamespace = 'public'::regnamespace`,
    );
    const refusing = new Set<string>();
    for (const [table, change] of REFUSED)
      refusing.add(`${table}.${(await refusal(table, change))?.constraint}`);
    expect([...refusing].sort()).toEqual(rows.map(({ name }) => name).sort());
  });
});
