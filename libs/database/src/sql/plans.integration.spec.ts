import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { readdirSync } from 'node:fs';
import { idFromUuid, newUuid, uuidOf } from '@posthorn/kernel';
import { eventLane, webhookLane } from '@posthorn/domain';
import { createTestDatabase, type TestDatabase } from '@posthorn/testing';
import pg from 'pg';
import { TestStores, rawEmail, sent } from '../test-stores.fixture.ts';
import { ApiKeyStore } from '../stores/api-key-store.ts';
import { DkimKeyStore } from '../stores/dkim-key-store.ts';
import {
  ACCEPT_COLUMNS,
  ACCEPT_EMAILS,
  ACCEPT_KEYED_COLUMNS,
  ACCEPT_KEYED_EMAILS,
  ANSWER_IDEMPOTENCY_KEYS,
  FIND_ANSWER,
  FIND_EMAILS,
  GIVE_BACK_IDEMPOTENCY_KEYS,
  READ_IDEMPOTENCY_KEYS,
  TAKE_IDEMPOTENCY_KEYS,
} from './accept.ts';
import { LOCK_OUTBOX_ROWS } from './claims.ts';
import { READ_COMPOSITION } from './composition.ts';
import { READ_EMAIL } from './read-email.ts';
import { HASTEN_DELIVERY, LOCK_DUE, PUT_BACK_DELIVERY, READ_STATUS } from './delivery-changes.ts';
import { EMAILS_TO, endOfGroup, EVENTS_NAMING, FORGET_PERSON, KEYS_NAMING, CANCEL_DUE } from './erasure.ts';
import { FIND_LEFT_BEHIND } from './examination.ts';
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
import { APPLY_NOTICES, HEALTH_COLUMNS, NOTICE_COLUMNS, UPDATE_HEALTH } from './receiver-health.ts';
import { DeliveryTestStores } from '../deliveries.fixture.ts';
import { analyze, crowd } from './crowded-database.fixture.ts';
import { listDeliveries, READ_ATTEMPTS, READ_DELIVERY } from './delivery-list.ts';
import {
  COUNT_LEASED_BEFORE,
  FAIL_EMAILS,
  LOCK_READY,
  LOCK_UNMARKED,
  MARK_DOUBTFUL,
  READY_EMAILS_AFTER,
  lockDueBefore,
} from './eras.ts';
import { LOCATE_EVENT, READ_EVENT_FEED } from './event-feed.ts';
import { CANCEL_EMAIL, RESCHEDULE_EMAIL } from './email-changes.ts';
import { READ_EMAIL_WORKSPACE, searchEmails } from './email-search.ts';
import {
  CLAIM_EMAILS,
  COUNT_EMAILS,
  GIVE_BACK,
  LANES_WITH_READY_ROWS,
  MEASURE_BACKLOG,
  RECORD_OUTCOMES,
  RENEW_LEASES,
  REVIVE,
  MAKE_READY,
} from './outbox.ts';
import { type Explained, nodesOf, type PlanNode } from './plan.fixture.ts';
import { BUSIEST_LANES, EMAILS_BY_MINUTE } from './overview.ts';
import { READ_SIGNING_KEYS } from './dkim-keys.ts';
import { countEmailsByDay, countEngagementsByDay } from './email-counts.ts';
import { COUNT_HITS, READ_HIT_EMAILS, TELL_HITS } from './hits.ts';
import { CLAIM_CHECK, CLAIM_DUE_CHECKS } from './domain-checks.ts';
import {
  ADD_SUPPRESSION,
  listSuppressions,
  READ_SUPPRESSION,
  READ_SUPPRESSION_WORKSPACE,
  REMOVE_SUPPRESSION,
  searchSuppressions,
} from './suppressions.ts';
import { ASK_WHY_WITHHELD } from './withheld.ts';
import { COUNT_FAILED_DELIVERIES, RECOVER_DELIVERIES, TAKE_RECOVERY } from './recoveries.ts';
import { EXPIRE_IDEMPOTENCY_KEYS, EXPIRE_VERIFICATION_LINKS } from './upkeep.ts';

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
const FIRST_ID = '00000000-0000-0000-0000-000000000000';

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
function health(): Record<string, unknown>[] {
  return sample.webhooks.map((id, n) => ({ id, failing_since: new Date(), is_slow: n % 2 === 0 }));
}

function notices(): Record<string, unknown>[] {
  return sample.webhooks.map((webhook_id, n) => ({
    webhook_id,
    workspace_id: nth(sample.workspaces, n),
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

/** A statement with its parameters as SQL literals, and the indexes that it must use. */
type Checked = [string, { sql: string; values: () => string[]; indexes: RegExp[] }];

const STATEMENTS: readonly Checked[] = [
  [
    'ACCEPT_EMAILS',
    {
      sql: ACCEPT_EMAILS,
      values: () => ['NULL', ...columns(ACCEPT_COLUMNS, emails(500))],
      indexes: [/^identities_workspace_value_key$/],
    },
  ],
  [
    'ACCEPT_KEYED_EMAILS',
    {
      sql: ACCEPT_KEYED_EMAILS,
      values: () => ['NULL', ...columns(ACCEPT_KEYED_COLUMNS, keyedEmails(500))],
      indexes: [/^identities_workspace_value_key$/],
    },
  ],
  ['LOCK_CONTACTS', { sql: LOCK_CONTACTS, values: () => [text(contacts(500)), 'now()'], indexes: [] }],
  [
    'READ_LOCKED_CONTACTS',
    {
      sql: READ_LOCKED_CONTACTS,
      values: () => [text(contacts(500))],
      indexes: [/^contacts_workspace_email_key$/],
    },
  ],
  [
    'WRITE_CONTACTS',
    {
      sql: WRITE_CONTACTS,
      values: () => [text(events(500)), text(contacts(500))],
      indexes: [/^contacts_pkey$/, /^webhooks_by_workspace_idx$/],
    },
  ],
  [
    'READ_CONTACT',
    {
      sql: READ_CONTACT,
      values: () => [text(NOBODY), someWorkspace()],
      indexes: [/^contacts_(pkey|by_workspace_idx)$/],
    },
  ],
  [
    'LOCK_CONTACT',
    {
      sql: LOCK_CONTACT,
      values: () => [text(NOBODY), someWorkspace()],
      indexes: [/^contacts_(pkey|by_workspace_idx)$/],
    },
  ],
  [
    'DELETE_CONTACT',
    {
      sql: DELETE_CONTACT,
      values: () => [text(events(1)), text(NOBODY)],
      indexes: [/^contacts_pkey$/, /^webhooks_by_workspace_idx$/],
    },
  ],
  [
    'LIST_CONTACTS',
    {
      sql: listContacts(SOME_WORKSPACE, {}, PAGE).text,
      values: () => [someWorkspace(), '51'],
      indexes: [/^contacts_by_workspace_idx$/],
    },
  ],
  [
    'LIST_CONTACTS_BY_STATUS',
    {
      sql: listContacts(SOME_WORKSPACE, { status: 'UNSUBSCRIBED' }, { ...PAGE, sort: 'createdAt.asc' }).text,
      values: () => [someWorkspace(), `'UNSUBSCRIBED'`, '51'],
      indexes: [/^contacts_by_status_idx$/],
    },
  ],
  [
    'LIST_CONTACTS_BY_EMAIL',
    {
      sql: listContacts(SOME_WORKSPACE, { email: 'a@example.net', status: 'SUBSCRIBED' }, PAGE).text,
      values: () => [someWorkspace(), `'PERSON7@example.net'`, `'SUBSCRIBED'`, '51'],
      indexes: [/^contacts_workspace_email_key$/],
    },
  ],
  [
    'LIST_SUPPRESSIONS',
    {
      sql: listSuppressions(SOME_WORKSPACE, {}, PAGE).text,
      values: () => [someWorkspace(), '51'],
      indexes: [/^suppressions_by_workspace_idx$/],
    },
  ],
  [
    'LIST_SUPPRESSIONS_BY_REASON',
    {
      sql: listSuppressions(SOME_WORKSPACE, { reason: 'COMPLAINT' }, { ...PAGE, sort: 'createdAt.asc' }).text,
      values: () => [someWorkspace(), `'COMPLAINT'`, '51'],
      indexes: [/^suppressions_by_reason_idx$/],
    },
  ],
  [
    'LIST_SUPPRESSIONS_BY_EMAIL',
    {
      sql: listSuppressions(SOME_WORKSPACE, { email: 'a@example.net', reason: 'COMPLAINT' }, PAGE).text,
      values: () => [someWorkspace(), `'PERSON7@example.net'`, `'COMPLAINT'`, '51'],
      indexes: [/^suppressions_workspace_email_key$/],
    },
  ],
  [
    'READ_SUPPRESSION',
    {
      sql: READ_SUPPRESSION,
      values: () => [text(NOBODY), someWorkspace()],
      indexes: [/^suppressions_(pkey|by_workspace_idx)$/],
    },
  ],
  [
    'SEARCH_SUPPRESSIONS',
    {
      sql: searchSuppressions(undefined, PAGE).text,
      values: () => ['51'],
      indexes: [/^suppressions_pkey$/],
    },
  ],
  [
    'SEARCH_SUPPRESSIONS_BY_EMAIL',
    {
      sql: searchSuppressions('a@example.net', PAGE).text,
      values: () => [`'PERSON7@example.net'`, '51'],
      indexes: [/^suppressions_workspace_email_key$/],
    },
  ],
  [
    'READ_SUPPRESSION_WORKSPACE',
    { sql: READ_SUPPRESSION_WORKSPACE, values: () => [text(NOBODY)], indexes: [/^suppressions_pkey$/] },
  ],
  [
    'ADD_SUPPRESSION',
    {
      sql: ADD_SUPPRESSION,
      values: () => [text(NOBODY), someWorkspace(), `'person7@example.net'`, `'MANUAL'`, `'{}'`, 'now()'],
      indexes: [],
    },
  ],
  [
    'REMOVE_SUPPRESSION',
    {
      sql: REMOVE_SUPPRESSION,
      values: () => [text(NOBODY), someWorkspace()],
      indexes: [/^suppressions_(pkey|by_workspace_idx)$/],
    },
  ],
  [
    'ASK_WHY_WITHHELD',
    { sql: ASK_WHY_WITHHELD, values: () => [array(sample.ids)], indexes: [/^emails_\d{4}_\d{2}_pkey$/] },
  ],
  ['TAKE_IDEMPOTENCY_KEYS', { sql: TAKE_IDEMPOTENCY_KEYS, values: () => [text(calls(100))], indexes: [] }],
  ['FIND_ANSWER', { sql: FIND_ANSWER, values: () => [text(calls(1))], indexes: [/^idempotency_keys_pkey$/] }],
  [
    'READ_IDEMPOTENCY_KEYS',
    { sql: READ_IDEMPOTENCY_KEYS, values: () => [text(calls(100))], indexes: [/^idempotency_keys_pkey$/] },
  ],
  [
    'GIVE_BACK_IDEMPOTENCY_KEYS',
    {
      sql: GIVE_BACK_IDEMPOTENCY_KEYS,
      values: () => [text(calls(100))],
      indexes: [/^idempotency_keys_pkey$/],
    },
  ],
  [
    'FIND_EMAILS',
    { sql: FIND_EMAILS, values: () => [array(sample.ids)], indexes: [/^emails_\d{4}_\d{2}_pkey$/] },
  ],
  [
    'FIND_KEY_HOLDERS',
    {
      sql: FIND_KEY_HOLDERS,
      values: () => [`ARRAY[${sample.hashes.map((hash) => `'\\x${hash}'`).join(',')}]::bytea[]`],
      indexes: [/^api_keys_secret_hash_key$/],
    },
  ],
  [
    'NOTE_KEY_USES',
    {
      sql: NOTE_KEY_USES,
      values: () => [text(sample.keys.map((id) => ({ id, at: new Date() })))],
      indexes: [/^api_keys_pkey$/],
    },
  ],
  [
    'CLAIM_EMAILS',
    {
      sql: CLAIM_EMAILS,
      values: () => [
        array(sample.workspaces.map((id) => `${id}.now`)),
        array(sample.workspaces.map(() => 5)),
        '1000000',
        `'60 s'`,
      ],
      indexes: [
        /^outbox_ready_by_lane_idx$/,
        /^outbox_pkey$/,
        /^emails_.*_pkey$/,
        /^email_contents_.*_pkey$/,
        /^suppressions_workspace_email_key$/,
        /^contacts_workspace_email_key$/,
        /^erased_recipients_pkey$/,
      ],
    },
  ],
  [
    'RECORD_OUTCOMES',
    {
      sql: RECORD_OUTCOMES,
      values: () => [text(outcomes())],
      indexes: [/^outbox_pkey$/, /^emails_.*_pkey$/],
    },
  ],
  [
    'READ_HIT_EMAILS',
    { sql: READ_HIT_EMAILS, values: () => [array(sample.ids)], indexes: [/^emails_.*_pkey$/] },
  ],
  ['COUNT_HITS', { sql: COUNT_HITS, values: () => [text(hits()), 'NULL'], indexes: [] }],
  ['TELL_HITS', { sql: TELL_HITS, values: () => [text(hits())], indexes: [/^email_events_.*_pkey$/] }],
  [
    'COUNT_ENGAGEMENTS',
    {
      sql: countEngagementsByDay(false),
      values: () => [someWorkspace(), `current_date - 6`, `current_date`, 'NULL'],
      indexes: [/^email_engagements_.*workspace_id_email_id/],
    },
  ],
  [
    'BUSIEST_LANES',
    { sql: BUSIEST_LANES, values: () => ['8', '1000'], indexes: [/^outbox_ready_by_lane_idx$/] },
  ],
  [
    'SEARCH_EMAILS',
    {
      sql: searchEmails({ status: 'FAILED' }, STRETCH).text,
      values: () => [`'FAILED'`, '10000', '51'],
      indexes: [/^emails_.*_pkey$/],
    },
  ],
  [
    'READ_EMAIL_WORKSPACE',
    { sql: READ_EMAIL_WORKSPACE, values: () => [text(NOBODY)], indexes: [/^emails_.*_pkey$/] },
  ],
  [
    'RENEW_LEASES',
    {
      sql: RENEW_LEASES,
      values: () => [array(sample.ids), array(sample.ids.map(() => 1)), `'60 s'`],
      indexes: [/^outbox_pkey$/],
    },
  ],
  [
    'GIVE_BACK',
    {
      sql: GIVE_BACK,
      values: () => [array(sample.ids), array(sample.ids.map(() => 1))],
      indexes: [/^outbox_pkey$/],
    },
  ],
  [
    'CANCEL_EMAIL',
    {
      sql: CANCEL_EMAIL,
      values: () => [text(sample.ids[0]), text(sample.workspaces[0])],
      indexes: [/^outbox_pkey$/, /^emails_.*_pkey$/, /^usage_pkey$/],
    },
  ],
  [
    'RESCHEDULE_EMAIL',
    {
      sql: RESCHEDULE_EMAIL,
      values: () => [text(sample.ids[0]), text(sample.workspaces[0]), 'NULL', `'30 d'`],
      indexes: [/^outbox_pkey$/, /^emails_.*_pkey$/, /^idempotency_keys_pkey$/],
    },
  ],
  ['MAKE_READY', { sql: MAKE_READY, values: () => ['500'], indexes: [/^outbox_waiting_by_due_idx$/] }],
  [
    'REVIVE',
    {
      sql: REVIVE,
      values: () => [`'15 s'`, '500', '5'],
      indexes: [/^outbox_taken_by_lease_idx$/, /^outbox_pkey$/, /^emails_.*_pkey$/],
    },
  ],
  [
    'LANES_WITH_READY_ROWS',
    { sql: LANES_WITH_READY_ROWS, values: () => [], indexes: [/^outbox_ready_by_lane_idx$/] },
  ],
  [
    'COUNT_EMAILS',
    {
      sql: COUNT_EMAILS,
      values: () => ['1000'],
      indexes: [/^outbox_ready_by_lane_idx$/, /^outbox_waiting_by_due_idx$/, /^outbox_taken_by_lease_idx$/],
    },
  ],
  [
    'LOCK_DUE_EVENTS',
    {
      sql: LOCK_DUE_EVENTS,
      values: () => [
        array(sample.workspaces.map((id) => eventLane(idFromUuid('wrk', id)))),
        array(sample.workspaces.map(() => 20)),
      ],
      indexes: [/^outbox_ready_by_lane_idx$/],
    },
  ],
  [
    'FAN_OUT_EVENTS',
    {
      sql: FAN_OUT_EVENTS,
      values: () => [array(sample.events), '100', '1000000', `'60 s'`, array([])],
      indexes: [/^outbox_pkey$/, /^events_.*_pkey$/, /^webhooks_pkey$/],
    },
  ],
  [
    'CLAIM_DELIVERIES',
    {
      sql: CLAIM_DELIVERIES,
      values: () => [
        array(sample.webhooks.map((id) => webhookLane(idFromUuid('wh', id)))),
        array(sample.webhooks.map(() => 5)),
        '1000000',
        `'60 s'`,
        'false',
      ],
      indexes: [
        /^outbox_ready_by_lane_idx$/,
        /^outbox_pkey$/,
        /^webhook_deliveries_.*_pkey$/,
        /^events_.*_pkey$/,
        /^slow_lanes_pkey$/,
      ],
    },
  ],
  [
    'READ_EVENT_FEED',
    {
      sql: READ_EVENT_FEED,
      values: () => [someWorkspace(), '0', `'0'`, text(FIRST_ID), 'NULL', 'NULL', '5000', '51'],
      indexes: [/^events_\d{4}_\d{2}_(workspace_id_era_xid_id_idx|feed_idx)$/, /^events_.*_pkey$/],
    },
  ],
  [
    'LOCATE_EVENT',
    {
      sql: LOCATE_EVENT,
      values: () => [text(NOBODY), someWorkspace(), 'now()'],
      indexes: [/^events_.*_pkey$/],
    },
  ],
  [
    'READ_RECEIVERS',
    { sql: READ_RECEIVERS, values: () => [array(sample.webhooks)], indexes: [/^webhooks_pkey$/] },
  ],
  [
    'LOCK_RECEIVERS',
    { sql: LOCK_RECEIVERS, values: () => [array(sample.webhooks)], indexes: [/^webhooks_pkey$/] },
  ],
  [
    'KEEP_HEALTH',
    {
      sql: UPDATE_HEALTH,
      values: () => columns(HEALTH_COLUMNS, health()),
      indexes: [/^webhooks_pkey$/, /^slow_lanes_pkey$/],
    },
  ],
  [
    'CARRY_OUT_JUDGEMENTS',
    {
      sql: APPLY_NOTICES,
      values: () => ['now()', ...columns(NOTICE_COLUMNS, notices())],
      indexes: [/^webhooks_pkey$/],
    },
  ],
  [
    'RECORD_DELIVERIES',
    {
      sql: RECORD_DELIVERIES,
      values: () => columns(OUTCOME_COLUMNS, deliveries()),
      indexes: [/^outbox_pkey$/, /^webhook_deliveries_.*_pkey$/],
    },
  ],
  [
    'EXPIRE_HELD_DELIVERIES',
    {
      sql: EXPIRE_HELD_DELIVERIES,
      values: () => [`'30 days'`, '100'],
      indexes: [/^outbox_ready_by_lane_idx$/, /^outbox_pkey$/, /^webhook_deliveries_.*_pkey$/],
    },
  ],
  [
    'PUT_BACK_DELIVERIES',
    {
      sql: PUT_BACK_DELIVERIES,
      values: () => ['100'],
      indexes: [/^webhooks_to_put_back_idx$/, /^webhook_deliveries_.*_pkey$/, /^events_.*_pkey$/],
    },
  ],
  [
    'LIST_DELIVERIES',
    {
      sql: listDeliveries(idFromUuid('wrk', NOBODY), idFromUuid('wh', NOBODY), {}, STRETCH).text,
      values: () => [text(sample.webhooks[0]), text(NOBODY), '10000', '51'],
      indexes: [/^webhook_deliveries_.*_webhook_id_id_idx/, /^webhook_deliveries_.*_pkey$/, /^outbox_pkey$/],
    },
  ],
  [
    'READ_DELIVERY',
    {
      sql: READ_DELIVERY,
      values: () => [text(NOBODY), text(NOBODY), text(NOBODY)],
      // The index of the key alone, or the one with the webhook before it: both find one row.
      indexes: [/^webhook_deliveries_.*(_pkey|_webhook_id_id_idx)$/, /^events_/],
    },
  ],
  [
    'READ_ATTEMPTS',
    {
      sql: READ_ATTEMPTS,
      values: () => [text(NOBODY), '50'],
      indexes: [/^webhook_attempts_.*_pkey$/],
    },
  ],
  [
    'COUNT_FAILED_DELIVERIES',
    {
      sql: COUNT_FAILED_DELIVERIES,
      values: () => [text(sample.webhooks[0]), text(FIRST_ID), 'now()', '2000'],
      indexes: [/^webhook_deliveries_.*_webhook_id_id_idx/, /^outbox_pkey$/],
    },
  ],
  [
    'RECOVER_DELIVERIES',
    {
      sql: RECOVER_DELIVERIES,
      values: () => [text(sample.webhooks[0]), text(FIRST_ID), 'now()', '2000'],
      indexes: [/^webhook_deliveries_.*_webhook_id_id_idx/, /^outbox_pkey$/, /^events_.*_pkey$/],
    },
  ],
  [
    'READY_EMAILS_AFTER',
    {
      sql: READY_EMAILS_AFTER,
      values: () => [text(`${sample.workspaces[0]}.now`), `'-infinity'`, text(FIRST_ID), '500'],
      indexes: [/^outbox_ready_by_lane_idx$/],
    },
  ],
  ['LOCK_READY', { sql: LOCK_READY, values: () => [array(sample.ids), 'now()'], indexes: [/^outbox_pkey$/] }],
  [
    'LOCK_UNMARKED',
    { sql: LOCK_UNMARKED, values: () => [array(sample.ids), 'now()'], indexes: [/^outbox_pkey$/] },
  ],
  ['MARK_DOUBTFUL', { sql: MARK_DOUBTFUL, values: () => [array(sample.ids)], indexes: [/^outbox_pkey$/] }],
  [
    'FAIL_EMAILS',
    {
      sql: FAIL_EMAILS,
      values: () => [array(sample.ids), `'{}'`],
      indexes: [/^outbox_pkey$/, /^emails_.*_pkey$/],
    },
  ],
  [
    'EXPIRE_IDEMPOTENCY_KEYS',
    {
      sql: EXPIRE_IDEMPOTENCY_KEYS,
      values: () => ['1000'],
      indexes: [/^idempotency_keys_by_expiry_idx$/, /^idempotency_keys_pkey$/],
    },
  ],
  [
    'EXPIRE_VERIFICATION_LINKS',
    {
      sql: EXPIRE_VERIFICATION_LINKS,
      values: () => ['86400', '100'],
      indexes: [/^verification_links_by_age_idx$/, /^verification_links_pkey$/],
    },
  ],
  [
    'READ_SIGNING_KEYS',
    {
      sql: READ_SIGNING_KEYS,
      values: () => [`ARRAY[${text(NOBODY)}]::uuid[]`, `'{1.example.com,2.example.com}'`],
      indexes: [/^identities_workspace_value_key$/, /^dkim_keys_identity_algorithm_stage_key$/],
    },
  ],
  [
    'CLAIM_DUE_CHECKS',
    {
      sql: CLAIM_DUE_CHECKS,
      values: () => ['50', '120'],
      indexes: [/^domain_checks_by_due_idx$/, /^domain_checks_pkey$/],
    },
  ],
  [
    'CLAIM_CHECK',
    {
      sql: CLAIM_CHECK,
      values: () => [text(NOBODY), text(NOBODY), '120', '5'],
      indexes: [/^domain_checks_pkey$/, /^identities_pkey$/],
    },
  ],
  [
    'ANSWER_IDEMPOTENCY_KEYS',
    { sql: ANSWER_IDEMPOTENCY_KEYS, values: () => [text(calls(100))], indexes: [/^idempotency_keys_pkey$/] },
  ],
  [
    'LOCK_OUTBOX_ROWS',
    { sql: LOCK_OUTBOX_ROWS, values: () => [array(sample.ids)], indexes: [/^outbox_pkey$/] },
  ],
  [
    'READ_COMPOSITION',
    {
      sql: READ_COMPOSITION,
      values: () => [text(NOBODY), someWorkspace()],
      indexes: [/^emails_.*(_pkey|_workspace_id_id_status_idx)$/, /^email_contents_.*_pkey$/],
    },
  ],
  [
    'READ_EMAIL',
    {
      sql: READ_EMAIL,
      values: () => [text(NOBODY), someWorkspace(), '500'],
      indexes: [
        /^emails_.*(_pkey|_workspace_id_id_status_idx)$/,
        /^email_events_.*_pkey$/,
        /^email_engagements_.*_pkey$/,
      ],
    },
  ],
  [
    'NOTE_OWN_FAULTS',
    { sql: RECORD_OWN_FAULTS, values: () => [text(deliveries())], indexes: [/^webhook_attempts_.*_pkey$/] },
  ],
  [
    'LOCK_DUE',
    {
      sql: LOCK_DUE,
      values: () => [text(NOBODY), text(sample.webhooks[0]), someWorkspace()],
      indexes: [/^outbox_pkey$/],
    },
  ],
  [
    'READ_STATUS',
    {
      sql: READ_STATUS,
      values: () => [text(NOBODY), text(sample.webhooks[0]), someWorkspace()],
      indexes: [/^webhook_deliveries_.*(_pkey|_webhook_id_id_idx)$/],
    },
  ],
  ['HASTEN_DELIVERY', { sql: HASTEN_DELIVERY, values: () => [text(NOBODY)], indexes: [/^outbox_pkey$/] }],
  [
    'PUT_BACK_DELIVERY',
    {
      sql: PUT_BACK_DELIVERY,
      values: () => [text(NOBODY)],
      indexes: [/^webhook_deliveries_.*_pkey$/, /^events_.*_pkey$/],
    },
  ],
  [
    'RECORD_EVENTS',
    { sql: RECORD_EVENTS, values: () => [text(events(500))], indexes: [/^webhooks_by_workspace_idx$/] },
  ],
  ['TAKE_RECOVERY', { sql: TAKE_RECOVERY, values: () => ['2000'], indexes: [/^outbox_ready_by_lane_idx$/] }],
  ['KNOWS_EMAIL', { sql: KNOWS_EMAIL, values: () => [text(NOBODY)], indexes: [/^emails_.*_pkey$/] }],
  [
    'LOCK_DUE_OF_REPORTED',
    { sql: LOCK_DUE_OF_REPORTED, values: () => [text(NOBODY)], indexes: [/^outbox_pkey$/] },
  ],
  ['LOCK_REPORTED', { sql: LOCK_REPORTED, values: () => [text(NOBODY)], indexes: [/^emails_.*_pkey$/] }],
  [
    'RECORD_REPORT',
    {
      sql: RECORD_REPORT,
      values: () => [
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
      indexes: [/^emails_.*_pkey$/, /^outbox_pkey$/],
    },
  ],
  [
    'READ_SUBSCRIPTION',
    {
      sql: READ_SUBSCRIPTION,
      values: () => [text(NOBODY)],
      indexes: [/^emails_.*_pkey$/, /^contacts_workspace_email_key$/],
    },
  ],
  [
    'MEASURE_BACKLOG',
    {
      sql: MEASURE_BACKLOG,
      values: () => ['1000'],
      indexes: [/^outbox_ready_by_lane_idx$/, /^outbox_taken_by_lease_idx$/],
    },
  ],
  ['EMAILS_BY_MINUTE', { sql: EMAILS_BY_MINUTE, values: () => ['1000'], indexes: [/^emails_.*_pkey$/] }],
  [
    'COUNT_EMAILS_BY_DAY',
    {
      sql: countEmailsByDay(false),
      values: () => [someWorkspace(), `current_date - 6`, `current_date`, 'NULL'],
      indexes: [/^emails_.*workspace_id_id/],
    },
  ],
  [
    'FIND_LEFT_BEHIND',
    {
      sql: FIND_LEFT_BEHIND,
      values: () => [],
      indexes: [/^outbox_waiting_by_due_idx$/, /^outbox_taken_by_lease_idx$/],
    },
  ],
  [
    'FORGET_PERSON',
    {
      sql: FORGET_PERSON,
      values: () => [`'person7@example.net'`, 'NULL', 'false'],
      indexes: [/^suppressions_workspace_email_key$/, /^contacts_workspace_email_key$/],
    },
  ],
  [
    'LOCK_DEAD',
    { sql: lockDueBefore('dead'), values: () => ['now()', '500'], indexes: [/^outbox_taken_by_lease_idx$/] },
  ],
  [
    'LOCK_WAITING',
    {
      sql: lockDueBefore('waiting'),
      values: () => ['now()', '500'],
      indexes: [/^outbox_waiting_by_due_idx$/],
    },
  ],
  [
    'COUNT_LEASED_BEFORE',
    { sql: COUNT_LEASED_BEFORE, values: () => ['now()'], indexes: [/^outbox_taken_by_lease_idx$/] },
  ],
  [
    'OLD_EMAILS',
    {
      sql: OLD_EMAILS,
      values: () => [someWorkspace(), text(FIRST_ID), '0', '2000'],
      indexes: [/^emails_.*workspace_id_id/],
    },
  ],
  ['FINISHED_OF', { sql: FINISHED_OF, values: () => [array(sample.ids)], indexes: [/^outbox_pkey$/] }],
  ...Object.entries({ ...REMOVE_EMAILS, ...REMOVE_DELIVERIES, ...REMOVE_EVENTS }).map(
    ([table, sql]): Checked => [
      `REMOVE_${table}`,
      { sql, values: () => [array(sample.ids)], indexes: [new RegExp(`^${table}_.*_pkey$`)] },
    ],
  ),
  [
    'NEXT_EVENTS',
    {
      sql: NEXT_EVENTS,
      values: () => [someWorkspace(), '0', `'0'`, text(FIRST_ID), '30', '2000'],
      indexes: [/^events_\d{4}_\d{2}_(workspace_id_era_xid_id_idx|feed_idx)$/],
    },
  ],
  [
    'DELIVERIES_OF',
    { sql: DELIVERIES_OF, values: () => [array(sample.events)], indexes: [/^events_.*_pkey$/] },
  ],
  [
    'NEEDED_DELIVERIES',
    {
      sql: NEEDED_DELIVERIES,
      values: () => [array(sample.deliveries), '30'],
      indexes: [/^webhook_deliveries_.*_pkey$/],
    },
  ],
  [
    'EMAILS_TO',
    {
      sql: EMAILS_TO,
      values: () => [text(FIRST_ID), text(NOBODY), `'b@example.org'`, 'NULL'],
      indexes: [/^emails_.*_pkey$/],
    },
  ],
  [
    'END_OF_GROUP',
    { sql: endOfGroup('emails'), values: () => [text(FIRST_ID), '2000'], indexes: [/^emails_.*_pkey$/] },
  ],
  [
    'EVENTS_NAMING',
    {
      sql: EVENTS_NAMING,
      values: () => [text(FIRST_ID), text(NOBODY), `'{b@example.org}'`, `'b@example.org'`, 'NULL'],
      indexes: [/^events_.*_pkey$/],
    },
  ],
  [
    'KEYS_NAMING',
    {
      sql: KEYS_NAMING,
      values: () => [`'{b@example.org}'`, `'b@example.org'`, 'NULL', text(FIRST_ID), `''`, '2000', `'b'`],
      indexes: [/^idempotency_keys_pkey$/],
    },
  ],
  ['CANCEL_DUE', { sql: CANCEL_DUE, values: () => [array(sample.ids)], indexes: [/^outbox_pkey$/] }],
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
    const plan = await planOf(MAKE_READY, ['2000']);
    await client.query('ROLLBACK');
    expect(plan.map((node) => node['Index Name'])).not.toContain('outbox_waiting_by_due_idx');
    expect(readFromEndToEnd(plan)).toEqual(['outbox']);
  });
});
