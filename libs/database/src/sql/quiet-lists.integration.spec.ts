import { beforeAll, describe, expect, it } from '@jest/globals';
import { idFromUuid, uuidOf } from '@posthorn/kernel';
import type pg from 'pg';
import { CONTENTS, nextOfWorkspace, ownRows } from '../schema/workspace-rows.ts';
import { openTestStores } from '../open-test-stores.fixture.ts';
import { listAuditLog } from './audit-log.ts';
import { listContacts } from './contacts.ts';
import { listDeliveries } from './delivery-list.ts';
import { listEmails } from './email-list.ts';
import { PUT_BACK_DELIVERIES } from './deliveries.ts';
import { executedPlan, type PlanNode } from './plan.fixture.ts';
import { COUNT_FAILED_DELIVERIES, RECOVER_DELIVERIES } from './recoveries.ts';
import { OLD_EMAILS } from './retention.ts';
import type { Statement } from './statement.ts';
import { listSuppressions } from './suppressions.ts';
import { listTemplates } from './templates.ts';
import { NEXT_EMAILS } from './workspace-deletion.ts';

const DAY_MS = 86_400_000;

const stores = await openTestStores(2);
/** Has a third of all rows, among those of others, but none of the last 30,000. */
const quiet = await stores.openWorkspace();
const busy = await stores.openWorkspace();
const QUIET_WEBHOOK = '01900000-0000-7000-8000-000000000001';
const BUSY_WEBHOOK = '01900000-0000-7000-8000-000000000002';

const BOTH = `
  SELECT overlay(gen_random_uuid()::text PLACING substr(uuid_v7_floor(now() - interval '2 hours' + n * interval '1 ms')::text, 1, 13) FROM 1)::uuid AS id, n,
         CASE WHEN n < 60000 AND n % 2 = 0 THEN $1::uuid ELSE $2::uuid END AS owner
  FROM   generate_series(1, 90000) n`;

beforeAll(async () => {
  const owners = [uuidOf(quiet), uuidOf(busy)];
  const { pool } = stores.database;
  // In the first hours of a month, two hours ago was in the previous one.
  await pool.query(
    `SELECT make_partition(t, date_trunc('month', now() AT TIME ZONE 'UTC') - interval '1 month')
     FROM   unnest(ARRAY['emails', 'webhook_deliveries']) t`,
  );
  await pool.query(
    `INSERT INTO emails (id, workspace_id, type, status, from_address, to_address, template_name, template_version_id, message_id, group_by,
                         track_clicks, track_opens, accepted_at, sent_at)
     SELECT id, owner, 'templated', 'SENT', 'a@example.com', n || '@example.net', 'welcome', id, id::text, 'all', false, false, now(), now()
     FROM   (${BOTH}) b`,
    owners,
  );
  await pool.query(
    `INSERT INTO contacts (id, workspace_id, email) SELECT id, owner, n || '@example.net' FROM (${BOTH}) b`,
    owners,
  );
  await pool.query(
    `INSERT INTO suppressions (id, workspace_id, email, reason, created_by)
     SELECT id, owner, n || '@example.net', 'HARD_BOUNCE', '{}' FROM (${BOTH}) b`,
    owners,
  );
  await pool.query(
    `INSERT INTO webhook_deliveries (id, workspace_id, webhook_id, event_id, status, finished_at)
     SELECT id, $3::uuid, owner, id, 'SUCCEEDED', now() FROM (${BOTH}) b`,
    [QUIET_WEBHOOK, BUSY_WEBHOOK, uuidOf(quiet)],
  );
  await pool.query(
    `INSERT INTO audit_log (id, workspace_id, action, actor, subject_id) SELECT id, owner, 'contact.updated', '{}', 'all' FROM (${BOTH}) b`,
    owners,
  );
  // A thousand of the quiet workspace: none has more.
  await pool.query(
    `WITH given AS (SELECT id, n, owner FROM (${BOTH}) b WHERE n % 60 = 0 OR owner = $2),
     template AS (
       INSERT INTO templates (id, workspace_id, name, current_version_id) SELECT id, owner, n::text, id FROM given
     )
     INSERT INTO template_versions (id, template_id, number, from_address, subject, html, required) SELECT id, id, 1, 'a@example.com', 'Hi', '<p>Hi</p>', '{}' FROM given`,
    owners,
  );
  await pool.query('ANALYZE emails, contacts, suppressions, webhook_deliveries, audit_log, templates');
});

/** How many rows a plan read in vain. */
function rowsReadInVain(plan: readonly PlanNode[]): number {
  return plan.reduce(
    (sum, node) => sum + (node['Rows Removed by Filter'] ?? 0) * (node['Actual Loops'] ?? 0),
    0,
  );
}

/** The id of the tenth row of an owner from the end. */
async function nearTheLastOf(table: string, column: string, owner: string): Promise<string> {
  const { rows } = await stores.database.pool.query<{ id: string }>(
    `SELECT id FROM ${table} WHERE ${column} = $1 ORDER BY ${column} DESC, id DESC OFFSET 10 LIMIT 1`,
    [owner],
  );
  return rows[0]!.id;
}

describe('A list of somebody who has many rows, but none of the last ones, reads none of the others', () => {
  const page = { sort: 'createdAt.desc', limit: 50 } as const;
  const window = { sort: 'createdAt.desc', start: undefined, maxSeen: 1_000, maxGiven: 51 } as const;
  const webhook = idFromUuid('wh', QUIET_WEBHOOK);

  it.each<[string, Statement]>([
    ['emails', listEmails(quiet, window, {})],
    [
      'emails of a template with a status',
      listEmails(quiet, window, { template: 'welcome', status: 'BOUNCED' }),
    ],
    ['emails of a group and a template', listEmails(quiet, window, { groupBy: 'all', template: 'other' })],
    ['emails that have not left', listEmails(quiet, window, { hasNotLeft: true })],
    ['emails by a class of failures', listEmails(quiet, window, { failureClass: 'other' })],
    ['deliveries', listDeliveries(quiet, webhook, window, {})],
    ['deliveries with a status', listDeliveries(quiet, webhook, window, { status: 'PENDING' })],
    ['contacts', listContacts(quiet, page, {})],
    ['contacts with a status', listContacts(quiet, page, { status: 'SUBSCRIBED' })],
    ['suppressions', listSuppressions(quiet, page, {})],
    ['suppressions for a reason', listSuppressions(quiet, page, { reason: 'HARD_BOUNCE' })],
    ['changes', listAuditLog(quiet, page, {})],
    ['changes of a kind', listAuditLog(quiet, page, { action: 'contact.updated' })],
    ['changes of an object', listAuditLog(quiet, page, { subjectId: 'all', action: 'contact.deleted' })],
    ['templates', { text: listTemplates('createdAt.desc'), values: [uuidOf(quiet), null, 51, null] }],
  ])('%s', async (_, statement) => {
    const plan = await executedPlan(stores.database.pool, statement);
    // Those that the filter of a list leaves out are counted: they are the reader's own.
    expect(rowsReadInVain(plan)).toBeLessThanOrEqual(window.maxSeen);
  });

  it.each<[string, string, readonly unknown[]]>([
    ['to be deleted', NEXT_EMAILS, [2_000]],
    ['past their retention', OLD_EMAILS, [0, 2_000]],
  ])('emails %s, from near the last one', async (_, text, rest) => {
    const values = [uuidOf(quiet), await nearTheLastOf('emails', 'workspace_id', uuidOf(quiet)), ...rest];
    expect(rowsReadInVain(await executedPlan(stores.database.pool, { text, values }))).toBeLessThanOrEqual(
      100,
    );
  });

  it.each([
    ['emails', ownRows('emails')],
    ['contacts', ownRows('contacts')],
    ['audit_log', ownRows('audit_log')],
    ['contents', CONTENTS],
  ] as const)('%s to be searched for a person, from near the last one', async (name, rows) => {
    const table = name === 'contents' ? 'emails' : name;
    const values = [uuidOf(quiet), 2_000, await nearTheLastOf(table, 'workspace_id', uuidOf(quiet))];
    const plan = await executedPlan(stores.database.pool, { text: nextOfWorkspace(rows, false), values });
    expect(rowsReadInVain(plan)).toBeLessThanOrEqual(100);
  });

  it.each([
    ['counted', COUNT_FAILED_DELIVERIES],
    ['recovered', RECOVER_DELIVERIES],
  ])('failed deliveries, %s, from near the last one', async (_, text) => {
    const start = await nearTheLastOf('webhook_deliveries', 'webhook_id', QUIET_WEBHOOK);
    const values = [QUIET_WEBHOOK, start, new Date(Date.now() + DAY_MS), 2_000];
    expect(rowsReadInVain(await executedPlan(stores.database.pool, { text, values }))).toBeLessThanOrEqual(
      100,
    );
  });
});

describe('Of a webhook that is active again, deliveries are put back without', () => {
  const GROUP = 1_000;

  /** Runs the work in a transaction in which the quiet webhook has deliveries to put back, and then undoes everything. */
  async function whenActiveAgain(work: (client: pg.PoolClient) => Promise<void>): Promise<void> {
    const client = await stores.database.pool.connect();
    try {
      await client.query('BEGIN');
      await client.query(
        `INSERT INTO webhooks (id, workspace_id, url, events, token, put_back_before)
         VALUES ($1, $2, 'https://example.com', '{CONTACT_CREATED}', '', now() + interval '1 hour')`,
        [QUIET_WEBHOOK, uuidOf(quiet)],
      );
      await work(client);
    } finally {
      await client.query('ROLLBACK');
      client.release();
    }
  }

  /** Puts back a group. @returns how many rows of each of the tables were read at most */
  async function rowsRead(client: pg.PoolClient, tables: readonly string[]): Promise<number[]> {
    const plan = await executedPlan(client, { text: PUT_BACK_DELIVERIES, values: [GROUP] });
    return tables.map((table) => {
      const read = plan.filter((node) => node['Relation Name']?.startsWith(table));
      return Math.max(...read.map((node) => (node['Actual Rows'] ?? 0) * (node['Actual Loops'] ?? 0)));
    });
  }

  it('reading more exhausted ones than a group has', () =>
    whenActiveAgain(async (client) => {
      await client.query(`UPDATE webhook_deliveries SET status = 'EXHAUSTED' WHERE webhook_id = $1`, [
        QUIET_WEBHOOK,
      ]);
      expect(await rowsRead(client, ['webhook_deliveries'])).toEqual([GROUP]);
    }));

  it('looking for each group at those that have failed again since', () =>
    whenActiveAgain(async (client) => {
      await client.query(
        `WITH failed AS (SELECT id FROM webhook_deliveries WHERE webhook_id = $1 ORDER BY webhook_id, id LIMIT 5000),
         waiting AS (
           INSERT INTO outbox (subject_id, queue, lane_id, state, due_at, attempts)
           SELECT id, 'webhook', type_id('wh', $1), 'waiting', now() + interval '3 hours', 1 FROM failed
         )
         INSERT INTO webhook_attempts (delivery_id, claims, number, error_class, reason, duration_ms, late, at)
         SELECT id, 1, 1, 'http', 'it answered 500', 1, false, now() + interval '2 hours' FROM failed`,
        [QUIET_WEBHOOK],
      );
      for (let group = 1; group <= 3; group += 1)
        expect(await rowsRead(client, ['outbox', 'webhook_attempts'])).toEqual([GROUP, GROUP]);
    }));
});
