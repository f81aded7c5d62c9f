import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { readdirSync } from 'node:fs';
import { FIRST_ID, idFromUuid, newUuid, uuidOf } from '@posthorn/kernel';
import { eventLane, webhookLane } from '@posthorn/domain';
import { createTestDatabase, type TestDatabase } from '@posthorn/testing';
import pg from 'pg';
import { TestStores, rawEmail, sent } from '../test-stores.fixture.ts';
import { ApiKeyStore } from '../stores/workspaces/api-key-store.ts';
import { DkimKeyStore } from '../stores/identities/dkim-key-store.ts';
import {
  ACCEPT_COLUMNS,
  ACCEPT_EMAILS,
  ACCEPT_KEYED_COLUMNS,
  ACCEPT_KEYED_EMAILS,
  FIND_EMAILS,
} from './accept.ts';
import { COUNT_EMAILS, MEASURE_BACKLOG } from './backlog.ts';
import {
  ANSWER_IDEMPOTENCY_KEYS,
  FIND_ANSWER,
  GIVE_BACK_IDEMPOTENCY_KEYS,
  READ_IDEMPOTENCY_KEYS,
  TAKE_IDEMPOTENCY_KEYS,
} from './idempotency-keys.ts';
import { LOCK_OUTBOX_ROWS } from './claims.ts';
import { READ_COMPOSITION } from './composition.ts';
import { READ_EMAIL } from './read-email.ts';
import {
  FIND_WEBHOOK,
  HASTEN_DELIVERY,
  LOCK_DUE,
  PUT_BACK_DELIVERY,
  READ_STATUS,
  SHARE_WEBHOOK,
} from './delivery-changes.ts';
import {
  CANCEL_DUE,
  DELIVERIES_AMONG,
  EMAILS_AMONG,
  EMAILS_TO_AMONG,
  EVENTS_NAMING_AMONG,
  FORGET_PERSON,
  LOCK_FINISHED_DELIVERIES,
} from './erasure.ts';
import { countGroup, KEYS_NAMING_AMONG, redactGroup } from './redaction.ts';
import { FIND_LEFT_BEHIND, FIND_WITHOUT_EDITOR } from './examination.ts';
import { RECORD_EVENTS } from './events.ts';
import { KNOWS_EMAIL, LOCK_DUE_OF_REPORTED, LOCK_REPORTED, RECORD_REPORT } from './reports.ts';
import {
  DELIVERIES_OF,
  FINISHED_OF,
  NEEDED_DELIVERIES,
  NEXT_EVENTS,
  OLD_EMAILS,
  REMOVE_DELIVERIES,
  REMOVE_EMAILS,
  REMOVE_EVENTS,
} from './retention.ts';
import { READ_SUBSCRIPTION } from './subscriptions.ts';
import { ADMIT_LINKS } from './tracking-hosts.ts';
import { FIND_KEY_HOLDERS, NOTE_KEY_USES } from './api-keys.ts';
import {
  DELETE_CONTACT,
  listContacts,
  LOCK_CONTACT,
  LOCK_CONTACTS,
  READ_CONTACT,
  READ_LOCKED_CONTACTS,
  WRITE_CONTACTS,
} from './contacts.ts';
import {
  CLAIM_DELIVERIES,
  EXPIRE_HELD_DELIVERIES,
  LOCK_RECEIVERS,
  RECORD_OWN_FAULTS,
  OUTCOME_COLUMNS,
  PUT_BACK_DELIVERIES,
  READ_RECEIVERS,
  RECORD_DELIVERIES,
} from './deliveries.ts';
import { FAN_OUT_EVENTS, LOCK_DUE_EVENTS } from './fan-out.ts';
import { APPLY_RECEIVER_CHANGES, RECEIVER_CHANGE_COLUMNS } from './receiver-health.ts';
import { DeliveryTestStores } from '../stores/webhooks/deliveries.fixture.ts';
import { analyze, crowd } from './crowded-database.fixture.ts';
import { listDeliveries, READ_ATTEMPTS, READ_DELIVERY } from './delivery-list.ts';
import { FAIL_EMAILS, LOCK_READY, LOCK_UNMARKED, MARK_DOUBTFUL, READY_EMAILS_AFTER } from './eras.ts';
import { LOCATE_EVENT, READ_EVENT_FEED } from './event-feed.ts';
import { ARE_LEFT_BEFORE, LOCK_HELD_READY, lockDueBefore } from './held-emails.ts';
import { CANCEL_EMAIL, RESCHEDULE_EMAIL } from './email-changes.ts';
import { READ_EMAIL_WORKSPACE, searchEmails } from './email-search.ts';
import { LAST_FAILURES } from './failure-class.ts';
import {
  CLAIM_EMAILS,
  GIVE_BACK,
  LANES_WITH_READY_ROWS,
  RECORD_OUTCOMES,
  RENEW_LEASES,
  REVIVE,
  MAKE_READY,
} from './outbox.ts';
import { type Explained, nodesOf, type PlanNode } from './plan.fixture.ts';
import { BACKLOG_OF_LANES, BUSIEST_LANES, EMAILS_BY_MINUTE, WAITING_RETRIES } from './overview.ts';
import { READ_ALLOWED_SENDERS } from './allowed-senders.ts';
import { READ_SIGNING_KEYS } from './dkim-keys.ts';
import { countEmailsByDay, countEngagementsByDay } from './email-counts.ts';
import { COUNT_HITS, READ_HIT_EMAILS, TELL_HITS } from './hits.ts';
import { CLAIM_CHECK, CLAIM_DUE_CHECKS } from './domain-checks.ts';
import {
  ADD_SUPPRESSIONS,
  listSuppressions,
  READ_SUPPRESSION,
  READ_SUPPRESSION_WORKSPACE,
  REMOVE_SUPPRESSION,
  searchSuppressions,
} from './suppressions.ts';
import { ASK_WHY_WITHHELD } from './withheld.ts';
import { HASTEN_EMAIL, hastenRetries } from './retries.ts';
import { COUNT_FAILED_DELIVERIES, RECOVER_DELIVERIES, TAKE_RECOVERY } from './recoveries.ts';
import {
  ATTEMPTS,
  DELIVERIES,
  EVENTS,
  IDEMPOTENCY_KEYS,
  nextOfWorkspace,
  ownRows,
  ROWS_OF_EMAILS,
  type WorkspaceRows,
} from '../schema/workspace-rows.ts';
import { ERASURE_RULES } from '../schema/erasure-rules.ts';
import { EXPIRE_IDEMPOTENCY_KEYS, EXPIRE_VERIFICATION_LINKS } from './upkeep.ts';
import { HIGHEST_USAGE } from './usage.ts';
import { HAS_ANY, LOCK_WEBHOOKS, NEXT_EMAILS } from './workspace-deletion.ts';

/** The tables that grow with the emails: no statement may scan one of them sequentially. */
const GROWING =
  /^(outbox|idempotency_keys|identities|dkim_keys|domain_checks|verification_links|api_keys|contacts|suppressions|emails|email_contents|email_events|email_engagements|events|webhooks|webhook_deliveries|webhook_attempts)(_\d{4}_\d{2})?$/;

/** A group of hundreds of rows needs a few pages for each row; scanning the outbox for each would need hundreds of thousands. */
const MAX_PAGES = 20_000;

/** The prepared statements, for which Postgres may keep a plan; the others are planned each time. */
const KEPT = [
  'ACCEPT_EMAILS',
  'ACCEPT_KEYED_EMAILS',
  'CLAIM_DELIVERIES',
  'CLAIM_EMAILS',
  'FAN_OUT_EVENTS',
  'FIND_KEY_HOLDERS',
  'LOCK_CONTACTS',
  'LOCK_DUE_EVENTS',
  'LOCK_OUTBOX_ROWS',
  'READ_LOCKED_CONTACTS',
  'READ_RECEIVERS',
  'READ_SIGNING_KEYS',
  'RECORD_DELIVERIES',
  'RECORD_OUTCOMES',
  'TAKE_IDEMPOTENCY_KEYS',
];

/** Statements that may read a whole table: the outbox, for operators; the webhooks, which are few. */
const UNCHECKED = ['COUNT_DUE_SINCE', 'STATE_OF_THINGS'];

/** An id of the current time that does not exist. */
const NOBODY = newUuid(Date.now());

const SOME_WORKSPACE = idFromUuid('wrk', NOBODY);
/** The first page of a list. */
const PAGE = { sort: 'createdAt.desc', limit: 50 } as const;
const STRETCH = { sort: 'createdAt.desc', start: undefined, maxSeen: 10_000, maxGiven: 51 } as const;

interface Sample {
  readonly ids: string[];
  readonly workspaces: string[];
  readonly hashes: string[];
  readonly keys: string[];
  /** Deliveries that are claimed. */
  readonly deliveries: string[];
  readonly webhooks: string[];
  /** Events that are due. */
  readonly events: string[];
}

let testDatabase: TestDatabase;
let stores: TestStores;
/** A connection with the settings of all our processes. */
let client: pg.PoolClient;
let sample: Sample;

beforeAll(async () => {
  testDatabase = await createTestDatabase();
  stores = new TestStores(testDatabase.url, 2);
  client = await stores.database.pool.connect();
  // In the first hour of a month, rows that are old enough to be removed are in the previous month.
  await client.query(
    `SELECT make_partition('emails', date_trunc('month', now() AT TIME ZONE 'UTC') - interval '1 month')`,
  );
  await client.query('ALTER TABLE outbox SET (autovacuum_enabled = off)');
  await client.query('ANALYZE');
  sample = {
    ids: [NOBODY],
    workspaces: [uuidOf(await stores.openWorkspace())],
    hashes: [],
    keys: [],
    deliveries: [NOBODY],
    webhooks: [NOBODY],
    events: [NOBODY],
  };
  for (const [name, { sql, values }] of STATEMENTS.filter(([name]) => KEPT.includes(name))) {
    await client.query(`PREPARE ${name} AS ${sql}`);
    for (let times = 1; times <= 8; times += 1) await inPassing(client, execute(name, values()));
  }
  await crowd(testDatabase.url);
  const first = async (sql: string) =>
    (await client.query<{ value: string }>(sql)).rows.map(({ value }) => value);
  sample = {
    ids: await first(
      `SELECT subject_id AS value FROM outbox WHERE state = 'taken' AND queue = 'email' ORDER BY subject_id LIMIT 50`,
    ),
    workspaces: await first('SELECT id AS value FROM workspaces ORDER BY id LIMIT 50'),
    hashes: await first(
      `SELECT encode(secret_hash, 'hex') AS value FROM api_keys ORDER BY secret_hash LIMIT 20`,
    ),
    keys: await first('SELECT id AS value FROM api_keys ORDER BY id LIMIT 500'),
    deliveries: await first(
      `SELECT subject_id AS value FROM outbox WHERE state = 'taken' AND queue = 'webhook' ORDER BY subject_id LIMIT 50`,
    ),
    webhooks: await first('SELECT id AS value FROM webhooks ORDER BY id OFFSET 500 LIMIT 50'),
    events: await first(
      `SELECT subject_id AS value FROM outbox WHERE queue = 'event' ORDER BY subject_id LIMIT 50`,
    ),
  };
});
afterAll(async () => {
  client.release();
  await stores.close();
  await testDatabase.drop();
});

function text(value: unknown): string {
  return pg.escapeLiteral(typeof value === 'string' ? value : JSON.stringify(value));
}

function array(values: readonly (string | number)[]): string {
  return pg.escapeLiteral(`{${values.join(',')}}`);
}

/** The columns of rows as arrays; absent values are NULL. */
function columns(names: object, rows: readonly Readonly<Record<string, unknown>>[]): string[] {
  return Object.keys(names).map((name) => {
    const values = rows.map((row) => row[name] ?? null);
    return array(values.map((value) => (value === null ? 'NULL' : JSON.stringify(value))));
  });
}

/** Calls with idempotency keys. */
function calls(count: number): object[] {
  return Array.from({ length: count }, (_, n) => ({
    n,
    workspace_id: nth(sample.workspaces, n),
    key: `key ${n}`,
    fingerprint: '00'.repeat(32),
    answer: '{}',
    expires_at: '2030-01-01T00:00:00Z',
  }));
}

function emails(count: number): Record<string, unknown>[] {
  const now = new Date();
  return Array.from({ length: count }, (_, n) => ({
    n,
    id: newUuid(now.getTime()),
    workspace_id: nth(sample.workspaces, n),
    type: 'raw',
    status: 'SENT',
    from_address: 'a@1.example.com',
    from_domain: '1.example.com',
    to_address: 'b@example.net',
    subject: '',
    message_id: 'x@example.com',
    track_clicks: false,
    track_opens: false,
    unsubscribe: false,
    html: '',
    accepted_at: now,
    lane_id: 'lane',
    state: 'ready',
    due_at: now,
    bytes: 0,
  }));
}

/** Contacts of all workspaces, half of which exist. */
function contacts(count: number): object[] {
  return Array.from({ length: count }, (_, n) => ({
    n,
    id: newUuid(Date.now()),
    workspace_id: nth(sample.workspaces, n),
    email: `PERSON${n + 50}@example.net`,
    properties: { n },
    updated_at: new Date(),
    status: 'SUBSCRIBED',
  }));
}

/** Outcomes of the claimed deliveries. */
function deliveries(): Record<string, unknown>[] {
  return sample.deliveries.map((id, n) => ({
    n,
    id,
    claims: 1,
    lane_id: 'lane',
    status: 'SUCCEEDED',
    retry_after_ms: null,
    steps: 0,
    attempt: true,
    number: 1,
    status_code: 200,
    headers: '{}',
    body: '',
    duration_ms: 1,
  }));
}

/** Observations of the receivers of webhooks, half of which are slow. */
function receiverChanges(): Record<string, unknown>[] {
  return sample.webhooks.map((webhook_id, n) => ({
    webhook_id,
    workspace_id: nth(sample.workspaces, n),
    failing_since: new Date(),
    is_slow: n % 2 === 0,
    notice: 'DISABLED_GONE',
  }));
}

function events(count: number): object[] {
  const now = Date.now();
  return Array.from({ length: count }, (_, n) => ({
    id: newUuid(now),
    workspace_id: nth(sample.workspaces, n),
    type: 'CONTACT_UPDATED',
    payload: '{}',
    created_at: new Date(now),
    lane_id: 'lane',
  }));
}

function outcomes(): object[] {
  const outcome = { claims: 1, kind: 'SENT', status: 'SENT', duplicate_possible: false, detail: {} };
  return sample.ids.map((id, n) => ({ ...outcome, n, id, workspace_id: nth(sample.workspaces, n) }));
}

function hits(): object[] {
  return sample.ids.map((id, n) => ({
    email_id: id,
    workspace_id: nth(sample.workspaces, n),
    at: new Date(),
    opens: 1,
    clicks: 0,
    machine_opens: 0,
    machine_clicks: 0,
    opened_at: new Date(),
    kind: 'OPENED',
    detail: { by: 'person' },
    same: { by: 'person' },
    event: 'EMAIL_OPENED',
  }));
}

/** Every other one with a key of its own. */
function keyedEmails(count: number): Record<string, unknown>[] {
  const claim = {
    fingerprint: `\\x${'00'.repeat(32)}`,
    answer: '{}',
    key_expires_at: '2030-01-01T00:00:00Z',
  };
  return emails(count).map((email, n) =>
    n % 2 === 0 ? email : { ...email, email_key: `key ${n}`, ...claim },
  );
}

function nth(values: readonly string[], n: number): string {
  return values[n % values.length]!;
}

function someWorkspace(): string {
  return text(sample.workspaces[0]);
}

function lanesOfOne(): string {
  return array(['now', 'bulk'].map((lane) => `${sample.workspaces[0]}.${lane}`));
}

type Checked = [string, { sql: string; values: () => string[]; indexes: RegExp[] }];

/** A statement by its name, with its parameters as SQL literals, and patterns for the indexes that it must use. */
function checked(named: Record<string, string>, values: () => string[], ...indexes: string[]): Checked {
  const [[name, sql]] = Object.entries(named) as [[string, string]];
  return [name, { sql, values, indexes: indexes.map((index) => new RegExp(`^${index}$`)) }];
}

/** The rows of a workspace in their order, with a position in it and the index that knows both; undefined: the table is small. */
const NEXT_OF_WORKSPACE: readonly [
  name: string,
  WorkspaceRows,
  start: readonly string[],
  index: string | undefined,
][] = [
  ['EMAILS_OF_WORKSPACE', ownRows('emails'), [text(FIRST_ID)], 'emails_.*workspace_id_id.*'],
  [
    'EVENTS_OF_WORKSPACE',
    EVENTS,
    [`'0'`, `'0'`, text(FIRST_ID)],
    'events_.*_(workspace_id_era_xid_id_idx|feed_idx)',
  ],
  [
    'DELIVERIES_OF_WORKSPACE',
    DELIVERIES,
    [`'0'`, `'0'`, text(FIRST_ID)],
    'events_.*_(workspace_id_era_xid_id_idx|feed_idx)',
  ],
  ['KEYS_OF_WORKSPACE', IDEMPOTENCY_KEYS, [`'key 1'`], 'idempotency_keys_pkey'],
  ['CONTACTS_OF_WORKSPACE', ownRows('contacts'), [text(FIRST_ID)], 'contacts_by_workspace_idx'],
  ['SUPPRESSIONS_OF_WORKSPACE', ownRows('suppressions'), [text(FIRST_ID)], 'suppressions_by_workspace_idx'],
  ['WEBHOOKS_OF_WORKSPACE', ownRows('webhooks'), [text(FIRST_ID)], undefined],
  ['KEYS_OF_WORKSPACE_FOR_THE_API', ownRows('api_keys'), [text(FIRST_ID)], undefined],
];

/** Groups of a workspace's rows in which an address is redacted: by what they are found, and a column with text. */
const REDACTED_GROUPS: readonly [
  table: string,
  WorkspaceRows,
  column: string,
  ids: () => string,
  index: string,
][] = [
  ['emails', ownRows('emails'), 'subject', () => array(sample.ids), 'emails_.*_pkey'],
  ['email_contents', ROWS_OF_EMAILS, 'html', () => array(sample.ids), 'email_contents_.*_pkey'],
  ['email_engagements', ROWS_OF_EMAILS, 'group_by', () => array(sample.ids), 'email_engagements_.*_pkey'],
  ['events', EVENTS, 'payload', () => array(sample.events), 'events_.*_pkey'],
  ['webhook_attempts', ATTEMPTS, 'body', () => array(sample.deliveries), 'webhook_attempts_.*_pkey'],
  ['idempotency_keys', IDEMPOTENCY_KEYS, 'answer', () => `'{key 1,key 2}'`, 'idempotency_keys_pkey'],
];

const STATEMENTS: readonly Checked[] = [
  checked(
    { ACCEPT_EMAILS },
    () => ['NULL', ...columns(ACCEPT_COLUMNS, emails(500))],
    'identities_workspace_value_key',
  ),
  checked(
    { ACCEPT_KEYED_EMAILS },
    () => ['NULL', ...columns(ACCEPT_KEYED_COLUMNS, keyedEmails(500))],
    'identities_workspace_value_key',
  ),
  checked({ LOCK_CONTACTS }, () => [text(contacts(500)), 'now()']),
  checked(
    { READ_LOCKED_CONTACTS },
    () => [text(contacts(500))],
    'contacts_workspace_email_key',
    'erased_recipients_pkey',
  ),
  checked(
    { WRITE_CONTACTS },
    () => [text(events(500)), text(contacts(500))],
    'contacts_pkey',
    'webhooks_by_workspace_idx',
  ),
  checked({ READ_CONTACT }, () => [text(NOBODY), someWorkspace()], 'contacts_(pkey|by_workspace_idx)'),
  checked({ LOCK_CONTACT }, () => [text(NOBODY), someWorkspace()], 'contacts_(pkey|by_workspace_idx)'),
  checked(
    { DELETE_CONTACT },
    () => [text(events(1)), text(NOBODY)],
    'contacts_pkey',
    'webhooks_by_workspace_idx',
  ),
  checked(
    { LIST_CONTACTS: listContacts(SOME_WORKSPACE, PAGE, {}).text },
    () => [someWorkspace(), '51'],
    'contacts_by_workspace_idx',
  ),
  checked(
    {
      LIST_CONTACTS_BY_STATUS: listContacts(
        SOME_WORKSPACE,
        { ...PAGE, sort: 'createdAt.asc' },
        { status: 'UNSUBSCRIBED' },
      ).text,
    },
    () => [someWorkspace(), `'UNSUBSCRIBED'`, '51'],
    'contacts_by_status_idx',
  ),
  checked(
    {
      LIST_CONTACTS_BY_EMAIL: listContacts(SOME_WORKSPACE, PAGE, {
        email: 'a@example.net',
        status: 'SUBSCRIBED',
      }).text,
    },
    () => [someWorkspace(), `'PERSON7@example.net'`, `'SUBSCRIBED'`, '51'],
    'contacts_workspace_email_key',
  ),
  checked(
    { LIST_SUPPRESSIONS: listSuppressions(SOME_WORKSPACE, PAGE, {}).text },
    () => [someWorkspace(), '51'],
    'suppressions_by_workspace_idx',
  ),
  checked(
    {
      LIST_SUPPRESSIONS_BY_REASON: listSuppressions(
        SOME_WORKSPACE,
        { ...PAGE, sort: 'createdAt.asc' },
        { reason: 'COMPLAINT' },
      ).text,
    },
    () => [someWorkspace(), `'COMPLAINT'`, '51'],
    'suppressions_by_reason_idx',
  ),
  checked(
    {
      LIST_SUPPRESSIONS_BY_EMAIL: listSuppressions(SOME_WORKSPACE, PAGE, {
        email: 'a@example.net',
        reason: 'COMPLAINT',
      }).text,
    },
    () => [someWorkspace(), `'PERSON7@example.net'`, `'COMPLAINT'`, '51'],
    'suppressions_workspace_email_key',
  ),
  checked(
    { READ_SUPPRESSION },
    () => [text(NOBODY), someWorkspace()],
    'suppressions_(pkey|by_workspace_idx)',
  ),
  checked(
    { SEARCH_SUPPRESSIONS: searchSuppressions(PAGE, undefined).text },
    () => ['51'],
    'suppressions_pkey',
  ),
  checked(
    { SEARCH_SUPPRESSIONS_BY_EMAIL: searchSuppressions(PAGE, 'a@example.net').text },
    () => [`'PERSON7@example.net'`, '51'],
    'suppressions_workspace_email_key',
  ),
  checked({ READ_SUPPRESSION_WORKSPACE }, () => [text(NOBODY)], 'suppressions_pkey'),
  checked({ ADD_SUPPRESSIONS }, () => [
    text([{ n: 0, id: NOBODY, email: 'person7@example.net', reason: 'MANUAL' }]),
    someWorkspace(),
    `'{}'`,
    'now()',
  ]),
  checked(
    { REMOVE_SUPPRESSION },
    () => [text(NOBODY), someWorkspace()],
    'suppressions_(pkey|by_workspace_idx)',
  ),
  checked({ ASK_WHY_WITHHELD }, () => [array(sample.ids)], 'emails_.*_pkey'),
  checked({ TAKE_IDEMPOTENCY_KEYS }, () => [text(calls(100))]),
  checked({ FIND_ANSWER }, () => [text(calls(1))], 'idempotency_keys_pkey'),
  checked({ READ_IDEMPOTENCY_KEYS }, () => [text(calls(100))], 'idempotency_keys_pkey'),
  checked({ GIVE_BACK_IDEMPOTENCY_KEYS }, () => [text(calls(100))], 'idempotency_keys_pkey'),
  checked({ FIND_EMAILS }, () => [array(sample.ids)], 'emails_.*_pkey'),
  checked(
    { FIND_KEY_HOLDERS },
    () => [`ARRAY[${sample.hashes.map((hash) => `'\\x${hash}'`).join(',')}]::bytea[]`],
    'api_keys_secret_hash_key',
  ),
  checked(
    { NOTE_KEY_USES },
    () => [text(sample.keys.map((id) => ({ id, at: new Date() })))],
    'api_keys_pkey',
  ),
  checked(
    { CLAIM_EMAILS },
    () => [
      array(sample.workspaces.map((id) => `${id}.now`)),
      array(sample.workspaces.map(() => 5)),
      array(sample.workspaces.map(() => '-infinity')),
      '1000000',
      `'60 s'`,
    ],
    'outbox_ready_by_lane_idx',
    'outbox_pkey',
    'emails_.*_pkey',
    'email_contents_.*_pkey',
    'suppressions_workspace_email_key',
    'contacts_workspace_email_key',
    'erased_recipients_pkey',
  ),
  checked({ RECORD_OUTCOMES }, () => [text(outcomes())], 'outbox_pkey', 'emails_.*_pkey'),
  checked({ READ_HIT_EMAILS }, () => [array(sample.ids)], 'emails_.*_pkey'),
  checked({ COUNT_HITS }, () => [text(hits()), 'NULL']),
  checked({ TELL_HITS }, () => [text(hits())], 'email_events_.*_pkey'),
  checked(
    { COUNT_ENGAGEMENTS: countEngagementsByDay(false) },
    () => [someWorkspace(), `current_date - 6`, `current_date`, 'NULL'],
    'email_engagements_.*workspace_id_email_id.*',
  ),
  checked({ BUSIEST_LANES }, () => ['8', '1000'], 'outbox_ready_by_lane_idx'),
  checked(
    { BACKLOG_OF_LANES },
    () => [`ARRAY['email', 'email']::outbox_queue[]`, lanesOfOne(), '1000'],
    'outbox_ready_by_lane_idx',
  ),
  checked({ WAITING_RETRIES }, () => ['10000'], 'outbox_waiting_by_due_idx'),
  checked(
    { SEARCH_EMAILS: searchEmails(STRETCH, { status: 'FAILED' }).text },
    () => [`'FAILED'`, '10000', '51'],
    'emails_.*_pkey',
  ),
  checked(
    { SEARCH_FAILED_EMAILS: searchEmails(STRETCH, { status: 'FAILED', failureClass: 'blocked' }).text },
    () => [`'FAILED'`, `'blocked'`, '10000', '51'],
    'emails_.*_pkey',
  ),
  checked({ LAST_FAILURES }, () => [array(sample.ids)], 'email_events_.*_pkey'),
  checked({ READ_EMAIL_WORKSPACE }, () => [text(NOBODY)], 'emails_.*_pkey'),
  checked(
    { RENEW_LEASES },
    () => [array(sample.ids), array(sample.ids.map(() => 1)), `'60 s'`],
    'outbox_pkey',
  ),
  checked({ GIVE_BACK }, () => [array(sample.ids), array(sample.ids.map(() => 1))], 'outbox_pkey'),
  checked(
    { CANCEL_EMAIL },
    () => [text(sample.ids[0]), someWorkspace()],
    'outbox_pkey',
    'emails_.*_pkey',
    'usage_pkey',
  ),
  checked(
    { RESCHEDULE_EMAIL },
    () => [text(sample.ids[0]), someWorkspace(), 'NULL', `'30 d'`],
    'outbox_pkey',
    'emails_.*_pkey',
    'idempotency_keys_pkey',
  ),
  checked({ MAKE_READY }, () => ['500', `'-infinity'`, 'true'], 'outbox_waiting_by_due_idx'),
  checked(
    { REVIVE },
    () => [`'15 s'`, '500', '5', `'-infinity'`, 'true', `'infinity'`],
    'outbox_taken_by_lease_idx',
    'outbox_pkey',
    'emails_.*_pkey',
  ),
  checked({ LANES_WITH_READY_ROWS }, () => [], 'outbox_ready_by_lane_idx'),
  checked(
    { COUNT_EMAILS },
    () => ['1000'],
    'outbox_ready_by_lane_idx',
    'outbox_waiting_by_due_idx',
    'outbox_taken_by_lease_idx',
  ),
  checked(
    { LOCK_DUE_EVENTS },
    () => [
      array(sample.workspaces.map((id) => eventLane(idFromUuid('wrk', id)))),
      array(sample.workspaces.map(() => 20)),
      array(sample.workspaces.map(() => '-infinity')),
    ],
    'outbox_ready_by_lane_idx',
  ),
  checked(
    { FAN_OUT_EVENTS },
    () => [array(sample.events), '100', '1000000', `'60 s'`, array([])],
    'outbox_pkey',
    'events_.*_pkey',
    'webhooks_pkey',
  ),
  checked(
    { CLAIM_DELIVERIES },
    () => [
      array(sample.webhooks.map((id) => webhookLane(idFromUuid('wh', id)))),
      array(sample.webhooks.map(() => 5)),
      array(sample.webhooks.map(() => '-infinity')),
      '1000000',
      `'60 s'`,
      'false',
    ],
    'outbox_ready_by_lane_idx',
    'outbox_pkey',
    'webhook_deliveries_.*_pkey',
    'events_.*_pkey',
    'slow_lanes_pkey',
  ),
  checked(
    { READ_EVENT_FEED },
    () => [someWorkspace(), '0', `'0'`, text(FIRST_ID), 'NULL', 'NULL', '5000', '51'],
    'events_.*_(workspace_id_era_xid_id_idx|feed_idx)',
    'events_.*_pkey',
  ),
  checked({ LOCATE_EVENT }, () => [text(NOBODY), someWorkspace(), 'now()'], 'events_.*_pkey'),
  checked({ READ_RECEIVERS }, () => [array(sample.webhooks)], 'webhooks_pkey'),
  checked({ LOCK_RECEIVERS }, () => [array(sample.webhooks)], 'webhooks_pkey'),
  checked(
    { APPLY_RECEIVER_CHANGES },
    () => ['now()', ...columns(RECEIVER_CHANGE_COLUMNS, receiverChanges())],
    'webhooks_pkey',
    'slow_lanes_pkey',
  ),
  checked(
    { RECORD_DELIVERIES },
    () => columns(OUTCOME_COLUMNS, deliveries()),
    'outbox_pkey',
    'webhook_deliveries_.*_pkey',
  ),
  checked(
    { EXPIRE_HELD_DELIVERIES },
    () => [`'30 days'`, '100'],
    'outbox_ready_by_lane_idx',
    'outbox_pkey',
    'webhook_deliveries_.*_pkey',
  ),
  checked(
    { PUT_BACK_DELIVERIES },
    () => ['100'],
    'webhooks_to_put_back_idx',
    'outbox_retries_by_lane_idx',
    'webhook_deliveries_.*_pkey',
    'events_.*_pkey',
  ),
  checked(
    {
      LIST_DELIVERIES: listDeliveries(SOME_WORKSPACE, idFromUuid('wh', NOBODY), STRETCH, {}).text,
    },
    () => [text(sample.webhooks[0]), text(NOBODY), '10000', '51'],
    'webhook_deliveries_.*_webhook_id_id_idx.*',
    'webhook_deliveries_.*_pkey',
    'outbox_pkey',
  ),
  // The index of the key alone, or the one with the webhook before it: both find one row.
  checked(
    { READ_DELIVERY },
    () => [text(NOBODY), text(NOBODY), text(NOBODY)],
    'webhook_deliveries_.*(_pkey|_webhook_id_id_idx)',
    'events_.*',
  ),
  checked({ READ_ATTEMPTS }, () => [text(NOBODY), '50'], 'webhook_attempts_.*_pkey'),
  checked(
    { COUNT_FAILED_DELIVERIES },
    () => [text(sample.webhooks[0]), text(FIRST_ID), 'now()', '2000'],
    'webhook_deliveries_.*_webhook_id_id_idx.*',
    'outbox_pkey',
  ),
  checked(
    { RECOVER_DELIVERIES },
    () => [text(sample.webhooks[0]), text(FIRST_ID), 'now()', '2000'],
    'webhook_deliveries_.*_webhook_id_id_idx.*',
    'outbox_pkey',
    'events_.*_pkey',
  ),
  checked(
    { READY_EMAILS_AFTER },
    () => [text(`${sample.workspaces[0]}.now`), `'-infinity'`, text(FIRST_ID), '500'],
    'outbox_ready_by_lane_idx',
  ),
  ...(['email', 'webhook'] as const).map((queue) =>
    checked(
      { [`HASTEN_RETRIES_OF_${queue.toUpperCase()}`]: hastenRetries(queue) },
      () => [
        'NULL',
        array([60, 300]),
        text(FIRST_ID),
        '2000',
        ...(queue === 'email' ? [`'example.net'`, `'blocked'`] : []),
      ],
      'outbox_pkey',
      ...(queue === 'email' ? ['emails_.*_pkey'] : ['webhook_deliveries_.*_pkey']),
    ),
  ),
  checked(
    { HASTEN_EMAIL },
    () => ['NULL', array([60, 300]), text(sample.ids[0])],
    'outbox_pkey',
    'emails_.*_pkey',
  ),
  checked({ LOCK_READY }, () => [array(sample.ids), 'now()'], 'outbox_pkey'),
  checked({ LOCK_UNMARKED }, () => [array(sample.ids), 'now()'], 'outbox_pkey'),
  checked({ MARK_DOUBTFUL }, () => [array(sample.ids)], 'outbox_pkey'),
  checked({ FAIL_EMAILS }, () => [array(sample.ids), `'{}'`], 'outbox_pkey', 'emails_.*_pkey'),
  checked(
    { EXPIRE_IDEMPOTENCY_KEYS },
    () => ['1000'],
    'idempotency_keys_by_expiry_idx',
    'idempotency_keys_pkey',
  ),
  checked(
    { EXPIRE_VERIFICATION_LINKS },
    () => [`'86400 s'`, '100'],
    'verification_links_by_age_idx',
    'verification_links_pkey',
  ),
  checked(
    { READ_SIGNING_KEYS },
    () => [`ARRAY[${text(NOBODY)}]::uuid[]`, `'{1.example.com,2.example.com}'`],
    'identities_workspace_value_key',
    'dkim_keys_identity_algorithm_stage_key',
  ),
  checked({ CLAIM_DUE_CHECKS }, () => ['50', '120'], 'domain_checks_by_due_idx', 'domain_checks_pkey'),
  checked(
    { CLAIM_CHECK },
    () => [text(NOBODY), text(NOBODY), '120', '5'],
    'domain_checks_pkey',
    'identities_pkey',
  ),
  checked({ ANSWER_IDEMPOTENCY_KEYS }, () => [text(calls(100))], 'idempotency_keys_pkey'),
  checked({ LOCK_OUTBOX_ROWS }, () => [array(sample.ids)], 'outbox_pkey'),
  checked(
    { READ_COMPOSITION },
    () => [text(NOBODY), someWorkspace()],
    'emails_.*(_pkey|_workspace_id_id_status_idx)',
    'email_contents_.*_pkey',
  ),
  checked(
    { READ_EMAIL },
    () => [text(NOBODY), someWorkspace(), '500'],
    'emails_.*(_pkey|_workspace_id_id_status_idx)',
    'email_events_.*_pkey',
    'email_engagements_.*_pkey',
    'outbox_pkey',
  ),
  checked(
    { RECORD_OWN_FAULTS },
    () => [text(deliveries())],
    'webhook_deliveries_.*_pkey',
    'webhook_attempts_.*_pkey',
  ),
  checked({ FIND_WEBHOOK }, () => [text(sample.webhooks[0]), someWorkspace()], 'webhooks_pkey'),
  checked({ SHARE_WEBHOOK }, () => [text(sample.webhooks[0]), someWorkspace()], 'webhooks_pkey'),
  checked({ LOCK_DUE }, () => [text(NOBODY), text(sample.webhooks[0])], 'outbox_pkey'),
  checked(
    { READ_STATUS },
    () => [text(NOBODY), text(sample.webhooks[0])],
    'webhook_deliveries_.*(_pkey|_webhook_id_id_idx)',
  ),
  checked({ HASTEN_DELIVERY }, () => [text(NOBODY)], 'outbox_pkey'),
  checked({ PUT_BACK_DELIVERY }, () => [text(NOBODY)], 'webhook_deliveries_.*_pkey', 'events_.*_pkey'),
  checked({ RECORD_EVENTS }, () => [text(events(500))], 'webhooks_by_workspace_idx'),
  checked({ TAKE_RECOVERY }, () => ['2000'], 'outbox_ready_by_lane_idx'),
  checked({ KNOWS_EMAIL }, () => [text(NOBODY)], 'emails_.*_pkey'),
  checked(
    { READ_ALLOWED_SENDERS },
    () => [someWorkspace(), `'me@example.com'`, `'example.com'`],
    'identities_workspace_value_key',
  ),
  checked({ LOCK_DUE_OF_REPORTED }, () => [text(NOBODY)], 'outbox_pkey'),
  checked({ LOCK_REPORTED }, () => [text(NOBODY)], 'emails_.*_pkey'),
  checked(
    { RECORD_REPORT },
    () => [
      text(sample.ids[0]),
      someWorkspace(),
      `'failed'`,
      `'BOUNCED'`,
      'false',
      `'{}'`,
      `'BOUNCED'`,
      `'EMAIL_BOUNCED'`,
      'NULL',
    ],
    'emails_.*_pkey',
    'outbox_pkey',
  ),
  checked(
    { ADMIT_LINKS },
    () => [`'${`{${sample.ids.map(() => 'links.example.com').join(',')}}`}'`, array(sample.ids)],
    'emails_.*_pkey',
    'workspaces_by_tracking_host_idx',
  ),
  checked(
    { READ_SUBSCRIPTION },
    () => [text(NOBODY)],
    'emails_.*_pkey',
    'contacts_workspace_email_key',
    'erased_recipients_pkey',
  ),
  checked({ MEASURE_BACKLOG }, () => ['1000'], 'outbox_ready_by_lane_idx', 'outbox_taken_by_lease_idx'),
  checked({ EMAILS_BY_MINUTE }, () => ['1000'], 'emails_.*_pkey'),
  checked(
    { COUNT_EMAILS_BY_DAY: countEmailsByDay(false) },
    () => [someWorkspace(), `current_date - 6`, `current_date`, 'NULL'],
    'emails_.*workspace_id_id.*',
  ),
  checked({ HIGHEST_USAGE }, () => ['100'], 'usage_pkey'),
  checked(
    { FIND_WITHOUT_EDITOR },
    () => [],
    'webhooks_by_workspace_idx',
    'identities_workspace_value_key',
    'memberships_by_workspace_idx',
  ),
  checked({ FIND_LEFT_BEHIND }, () => [], 'outbox_waiting_by_due_idx', 'outbox_taken_by_lease_idx'),
  checked(
    { FORGET_PERSON },
    () => [`'person7@example.net'`, someWorkspace(), 'false', 'now()', String.raw`'\x00'`],
    'suppressions_workspace_email_key',
    'contacts_workspace_email_key',
  ),
  checked({ LOCK_HELD_READY }, () => ['now()', '250', lanesOfOne()], 'outbox_ready_by_lane_idx'),
  ...[['of_all', (): string => 'NULL'] as const, ['of_one', lanesOfOne] as const].flatMap(
    ([whose, lanes]) => [
      checked(
        { [`LOCK_DEAD_${whose}`]: lockDueBefore('dead') },
        () => ['now()', '500', lanes()],
        'outbox_taken_by_lease_idx',
      ),
      checked(
        { [`LOCK_WAITING_${whose}`]: lockDueBefore('waiting') },
        () => ['now()', '500', lanes()],
        'outbox_waiting_by_due_idx',
      ),
      checked(
        { [`ARE_LEFT_BEFORE_${whose}`]: ARE_LEFT_BEFORE },
        () => ['now()', lanes()],
        'outbox_waiting_by_due_idx',
        'outbox_taken_by_lease_idx',
        'outbox_ready_by_lane_idx',
      ),
    ],
  ),
  checked({ OLD_EMAILS }, () => [someWorkspace(), text(FIRST_ID), '0', '2000'], 'emails_.*workspace_id_id.*'),
  checked({ FINISHED_OF }, () => [array(sample.ids)], 'outbox_pkey'),
  ...Object.entries({ ...REMOVE_EMAILS, ...REMOVE_DELIVERIES, ...REMOVE_EVENTS }).map(([table, sql]) =>
    checked({ [`REMOVE_${table}`]: sql }, () => [array(sample.ids)], `${table}_.*_pkey`),
  ),
  checked(
    { NEXT_EVENTS },
    () => [someWorkspace(), '0', `'0'`, text(FIRST_ID), '30', '2000'],
    'events_.*_(workspace_id_era_xid_id_idx|feed_idx)',
  ),
  checked({ DELIVERIES_OF }, () => [array(sample.events)], 'events_.*_pkey'),
  checked({ NEEDED_DELIVERIES }, () => [array(sample.deliveries), '30'], 'webhook_deliveries_.*_pkey'),
  checked(
    { KEYS_NAMING_AMONG },
    () => [`'{b@example.org}'`, `'b@example.org'`, `'b'`, someWorkspace(), `'{key 1,key 2}'`],
    'idempotency_keys_pkey',
  ),
  checked({ EMAILS_TO_AMONG }, () => [array(sample.ids), `'b@example.org'`, 'now()'], 'emails_.*_pkey'),
  checked({ EMAILS_AMONG }, () => [array(sample.ids)], 'emails_.*_pkey'),
  checked(
    { EVENTS_NAMING_AMONG },
    () => [array(sample.events), `'{b@example.org}'`, `'b@example.org'`, 'now()'],
    'events_.*_pkey',
  ),
  ...NEXT_OF_WORKSPACE.flatMap(([name, rows, start, index]) => [
    checked(
      { [`FIRST_${name}`]: nextOfWorkspace(rows, true) },
      () => [someWorkspace(), '2000'],
      ...(index === undefined ? [] : [index]),
    ),
    checked(
      { [`NEXT_${name}`]: nextOfWorkspace(rows, false) },
      () => [someWorkspace(), '2000', ...start],
      ...(index === undefined ? [] : [index]),
    ),
  ]),
  ...REDACTED_GROUPS.flatMap(([table, rows, column, ids, index]) => {
    const searched = {
      table,
      columns: [{ name: column, type: 'text', keyPlace: null }],
      rule: ERASURE_RULES[table]!,
    };
    const values = (): string[] => [
      ...[`'{b@example.org}'`, `'{b@example.org,b}'`, ids()],
      ...(rows.isByWorkspace ? [someWorkspace()] : []),
    ];
    return [
      checked({ [`COUNT_IN_${table}`]: countGroup(searched, rows.match) }, values, index),
      checked({ [`REDACT_IN_${table}`]: redactGroup(searched, rows.match) }, values, index),
    ];
  }),
  checked({ CANCEL_DUE }, () => [array(sample.ids)], 'outbox_pkey'),
  checked(
    { LOCK_FINISHED_DELIVERIES },
    () => [array(sample.deliveries)],
    'webhook_deliveries_.*_pkey',
    'outbox_pkey',
  ),
  checked({ DELIVERIES_AMONG }, () => [array(sample.deliveries)], 'webhook_deliveries_.*_pkey'),
  checked({ NEXT_EMAILS }, () => [someWorkspace(), text(FIRST_ID), '500'], 'emails_.*workspace_id_id.*'),
  checked({ LOCK_WEBHOOKS }, () => [someWorkspace()], 'webhooks_by_workspace_idx'),
  checked(
    { HAS_ANY },
    () => [text(NOBODY)],
    'emails_.*_workspace_id_.*',
    'events_.*_(workspace_id_era_xid_id_idx|feed_idx)',
  ),
];

function execute(name: string, values: string[]): string {
  return `EXECUTE ${name}${values.length > 0 ? `(${values.join(', ')})` : ''}`;
}

/** Executes a statement and rolls it back. */
async function inPassing<Row extends pg.QueryResultRow>(on: pg.PoolClient, sql: string): Promise<Row[]> {
  await on.query('BEGIN');
  try {
    return (await on.query<Row>(sql)).rows;
  } finally {
    await on.query('ROLLBACK');
  }
}

async function pagesTouchedBy(on: pg.PoolClient, sql: string): Promise<number> {
  const [row] = await inPassing<Explained>(on, `EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) ${sql}`);
  const { Plan } = row!['QUERY PLAN'][0];
  return Plan['Shared Hit Blocks'] + Plan['Shared Read Blocks'];
}

/** The plan of a statement that is prepared now. */
async function planOf(sql: string, values: string[]): Promise<PlanNode[]> {
  await client.query(`PREPARE statement AS ${sql}`);
  try {
    const { rows } = await client.query<Explained>(`EXPLAIN (FORMAT JSON) ${execute('statement', values)}`);
    return nodesOf(rows[0]!['QUERY PLAN'][0].Plan);
  } finally {
    await client.query('DEALLOCATE statement');
  }
}

/** Whether it is a complete statement, not a part of others, and searches a growing table. */
function isStatement(sql: string): boolean {
  const tables = [...sql.matchAll(/\b(?:FROM|JOIN|UPDATE|USING)\s+(?:ONLY )?([a-z_]+)/g)].map(
    ([, name]) => name!,
  );
  return /^\s*(?:WITH|SELECT|INSERT|UPDATE|DELETE)\b/.test(sql) && tables.some((name) => GROWING.test(name));
}

/** The growing tables that the plan scans sequentially. */
function readFromEndToEnd(plan: PlanNode[]): string[] {
  return plan
    .filter((node) => node['Node Type'] === 'Seq Scan' && GROWING.test(node['Relation Name'] ?? ''))
    .map((node) => node['Relation Name']!);
}

describe('With 120,000 rows in tables whose statistics say that they are empty', () => {
  it.each(STATEMENTS)('%s reads only the pages that it needs', async (name, { sql, values }) => {
    if (!KEPT.includes(name)) await client.query(`PREPARE ${name} AS ${sql}`);
    expect(await pagesTouchedBy(client, execute(name, values()))).toBeLessThan(MAX_PAGES);
  });

  it.each(STATEMENTS.filter(([name]) => KEPT.includes(name)))(
    '%s has kept the plan of an empty database, and it reads the outbox by the same indexes',
    async (name, { values, indexes }) => {
      const { rows } = await client.query<Explained>(`EXPLAIN (FORMAT JSON) ${execute(name, values())}`);
      const plan = nodesOf(rows[0]!['QUERY PLAN'][0].Plan);
      expect(readFromEndToEnd(plan)).toEqual([]);
      const used = plan.map((node) => node['Index Name'] ?? '');
      // Other tables may be read by other indexes until they are analysed again (decision 12).
      for (const index of indexes.filter(({ source }) => source.startsWith('^outbox')))
        expect(used).toContainEqual(expect.stringMatching(index));
    },
  );

  it('no other statement has a kept plan', async () => {
    const one = new TestStores(testDatabase.url, 1);
    const acme = await one.openWorkspace();
    const until = { expiresAt: new Date('2030-01-01') };
    const idempotency = { key: 'order 1', fingerprint: Buffer.alloc(32), answer: '', ...until };
    await one.accept([rawEmail(acme, { contactProperties: { plan: 'pro' }, idempotency })]);
    const callClaim = { ...idempotency, key: 'orders', answerFor: () => '{}' };
    await one.acceptance.accept(
      [{ workspaceId: acme, emails: [rawEmail(acme)], idempotency: callClaim }],
      null,
    );
    const claimCtes = await one.acceptAndClaim(acme);
    await one.outbox.renew([claimCtes], 60_000);
    await one.outbox.record([sent(claimCtes)]);
    await one.outbox.giveBack([claimCtes]);
    await one.outbox.makeReady(1);
    await one.outbox.revive(15_000, 1, 5);
    await one.outbox.lanesWithReadyRows();
    await new ApiKeyStore(one.database).findHolders([Buffer.alloc(32)]);
    await new DkimKeyStore(one.database).readSigningKeys([{ workspaceId: acme, domain: 'acme.example' }]);
    const deliveries = new DeliveryTestStores(one);
    const webhook = await deliveries.addWebhook(acme);
    const [delivery] = await deliveries.recordAndClaim(acme, webhook);
    await deliveries.deliveries.readReceivers([webhook]);
    await deliveries.deliveries.record([deliveries.outcome(delivery!)]);
    const kept = await one.ask<{ name: string }>('SELECT name FROM pg_prepared_statements ORDER BY name');
    await one.close();
    expect(kept.map(({ name }) => name.toUpperCase())).toEqual(KEPT);
  });

  it.each([
    ['enable_seqscan', 'off'],
    ['enable_bitmapscan', 'off'],
    ['enable_incremental_sort', 'off'],
    ['jit', 'off'],
  ])('a connection of ours has %s = %s', async (name, setting) => {
    expect((await stores.ask(`SELECT current_setting($1) AS setting`, [name]))[0]).toEqual({ setting });
  });
});

describe.each(['force_custom_plan', 'force_generic_plan'])('With 120,000 rows and %s', (mode) => {
  beforeAll(async () => {
    await analyze(testDatabase.url);
    await client.query(`SET plan_cache_mode = ${mode}`);
  });

  it.each(STATEMENTS)('%s uses its indexes', async (_name, { sql, values, indexes }) => {
    const plan = await planOf(sql, values());
    const used = plan.map((node) => node['Index Name'] ?? '');
    expect(readFromEndToEnd(plan)).toEqual([]);
    for (const index of indexes) expect(used).toContainEqual(expect.stringMatching(index));
  });
});

describe('The test of plans', () => {
  it('includes every statement that searches a growing table', async () => {
    const modules = readdirSync(new URL('.', import.meta.url)).filter((name) => /^[a-z-]+\.ts$/.test(name));
    const checked = new Set(STATEMENTS.map(([, { sql }]) => sql));
    const missing: string[] = [];
    for (const module of modules) {
      const exported = Object.entries((await import(`./${module}`)) as Record<string, unknown>);
      for (const [name, sql] of exported)
        if (typeof sql === 'string' && isStatement(sql) && !checked.has(sql)) missing.push(name);
    }
    expect(missing.sort()).toEqual(UNCHECKED);
  });

  it('detects a sequential scan', async () => {
    expect(readFromEndToEnd(await planOf('SELECT FROM outbox WHERE attempts = 7', []))).toEqual(['outbox']);
  });

  it('detects a missing index', async () => {
    await client.query('BEGIN');
    await client.query('DROP INDEX outbox_waiting_by_due_idx');
    const plan = await planOf(MAKE_READY, ['2000', `'-infinity'`, 'false']);
    await client.query('ROLLBACK');
    expect(plan.map((node) => node['Index Name'])).not.toContain('outbox_waiting_by_due_idx');
    expect(readFromEndToEnd(plan)).toEqual(['outbox']);
  });
});
