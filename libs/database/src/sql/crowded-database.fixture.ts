import { eventShape } from '@posthorn/domain';
import pg from 'pg';

/** An id of now (UUIDv7 but for its version), made by the database. */
const NEW_ID = `overlay(gen_random_uuid()::text PLACING substr(uuid_v7_floor(now())::text, 1, 13) FROM 1)::uuid`;

/** How many workspaces, and emails of each that are not finished. */
const WORKSPACES = 400;
const ROWS_EACH = 300;
/** How many webhooks have events, and how many each. */
const TOLD_WEBHOOKS = 1_000;
const EVENTS_EACH = 10;

/**
 * 120,000 unfinished emails of 400 workspaces: in each 60 wait, 20 are taken and the others ready; and as many contacts; 10,000 events
 * for 1,000 webhooks. Not analysed.
 */
export async function crowd(url: string): Promise<void> {
  const statements = [
    // Autovacuum in the middle of an INSERT would find many pages without a row, which no later statement could be planned with.
    `DO $$ DECLARE name regclass; BEGIN
       FOR name IN SELECT oid FROM pg_class WHERE relkind = 'r' AND relnamespace = 'public'::regnamespace LOOP
         EXECUTE format('ALTER TABLE %s SET (autovacuum_enabled = off)', name);
       END LOOP;
     END $$`,
    `INSERT INTO workspaces (id, name) SELECT gen_random_uuid(), 'Crowd' FROM generate_series(1, ${WORKSPACES})`,
    `INSERT INTO identities (id, workspace_id, kind, value, status, verified_at)
     SELECT gen_random_uuid(), w.id, 'domain', n || '.example.com', 'VERIFIED', now() FROM workspaces w, generate_series(1, 10) n`,
    `INSERT INTO dkim_keys (id, identity_id, algorithm, selector, public_key, private_key, published_at)
     SELECT gen_random_uuid(), i.id, a, 'ph-' || a, 'AA==', '', now() FROM identities i, unnest(enum_range(NULL::dkim_algorithm)) a`,
    `INSERT INTO domain_checks (identity_id, due_at)
     SELECT id, now() + make_interval(mins => row_number() OVER (ORDER BY id)::int - 100) FROM identities`,
    `INSERT INTO verification_links (id, identity_id, workspace_id, token_hash, address_hash, created_at, expires_at)
     SELECT gen_random_uuid(), id, workspace_id, sha256(id::text::bytea), sha256(value::bytea),
            now() - make_interval(mins => row_number() OVER (ORDER BY id)::int), now() + interval '1 day'
     FROM   identities`,
    `INSERT INTO api_keys (id, workspace_id, display_name, role, secret_hash, secret_hint)
     SELECT gen_random_uuid(), w.id, 'Key', 'API_USER', sha256((w.id::text || n)::bytea), '' FROM workspaces w, generate_series(1, 20) n`,
    // Of both statuses: if there were one only, a plan made for any status would gain nothing by the index that knows it.
    `INSERT INTO contacts (id, workspace_id, email, status, unsubscribed_at)
     SELECT gen_random_uuid(), w.id, 'person' || n || '@example.net',
            CASE WHEN n % 3 = 0 THEN 'UNSUBSCRIBED' ELSE 'SUBSCRIBED' END::contact_status, CASE WHEN n % 3 = 0 THEN now() END
     FROM   workspaces w, generate_series(1, ${ROWS_EACH}) n`,
    `INSERT INTO suppressions (id, workspace_id, email, reason, created_by)
     SELECT gen_random_uuid(), workspace_id, email, CASE WHEN email LIKE '%7@%' THEN 'COMPLAINT' ELSE 'MANUAL' END::suppression_reason, '{}'
     FROM   contacts`,
    `INSERT INTO webhooks (id, workspace_id, url, events, token)
     SELECT gen_random_uuid(), w.id, 'https://example.com', '{CONTACT_UPDATED}', '' FROM workspaces w, generate_series(1, 10) n`,
    `INSERT INTO idempotency_keys
     SELECT w.id, 'key ' || n, sha256('x'), '{}', now() + make_interval(mins => n - 10)
     FROM   workspaces w, generate_series(1, ${ROWS_EACH}) n`,
    `CREATE TEMP TABLE crowd AS
     SELECT ${NEW_ID} AS id, w.id AS workspace_id, n FROM workspaces w, generate_series(1, ${ROWS_EACH}) n`,
    `INSERT INTO emails (id, workspace_id, type, status, from_address, to_address, subject, message_id, track_clicks,
                         track_opens, accepted_at)
     SELECT id, workspace_id, 'raw', 'SENT', 'a@1.example.com', 'b@example.net', 'Welcome', id || '@example.com', false,
            false, now()
     FROM   crowd`,
    `INSERT INTO email_contents (email_id, html) SELECT id, repeat('x', 100) FROM crowd`,
    `INSERT INTO email_events (email_id, kind, claims) SELECT id, 'DELAYED', 0 FROM crowd`,
    `INSERT INTO email_engagements (email_id, workspace_id, opens, clicks, machine_opens, machine_clicks, opened_at)
     SELECT id, workspace_id, 1, 0, 0, 0, now() FROM crowd`,
    `INSERT INTO outbox (subject_id, queue, lane_id, state, due_at, lease_until, bytes, claims, unanswered)
     SELECT id, 'email', workspace_id || '.now',
            CASE WHEN n <= 60 THEN 'waiting' WHEN n <= 80 THEN 'taken' ELSE 'ready' END::outbox_state,
            now() + make_interval(mins => n - 20),
            CASE WHEN n BETWEEN 61 AND 80 THEN now() + make_interval(mins => n - 65) END,
            500, (n BETWEEN 61 AND 80)::int, (n BETWEEN 61 AND 80)::int
     FROM   crowd`,
    'DROP TABLE crowd',
    `CREATE TEMP TABLE crowd AS
     SELECT ${NEW_ID} AS id, ${NEW_ID} AS event_id, workspace_id, id AS webhook_id, n
     FROM   (SELECT * FROM webhooks ORDER BY id LIMIT ${TOLD_WEBHOOKS}) w, generate_series(1, ${EVENTS_EACH}) n`,
    `INSERT INTO events (id, workspace_id, type, payload, webhook_ids, created_at)
     SELECT event_id, workspace_id, 'CONTACT_DELETED', '${JSON.stringify(eventShape('CONTACT_DELETED').example)}', ARRAY[webhook_id], now() FROM crowd`,
    `INSERT INTO outbox (subject_id, queue, lane_id, state, due_at)
     SELECT event_id, 'event', type_id('wrk', workspace_id) || '.events', 'ready', now() FROM crowd WHERE n <= 3`,
    `INSERT INTO webhook_deliveries (id, workspace_id, webhook_id, event_id, status, finished_at)
     SELECT id, workspace_id, webhook_id, event_id, CASE WHEN n < 8 THEN 'PENDING' ELSE 'EXHAUSTED' END::delivery_status,
            CASE WHEN n >= 8 THEN now() END
     FROM   crowd WHERE n > 3`,
    `INSERT INTO outbox (subject_id, queue, lane_id, state, due_at, lease_until, claims, unanswered)
     SELECT id, 'webhook', type_id('wh', webhook_id), CASE WHEN n < 7 THEN 'ready' ELSE 'taken' END::outbox_state, now(),
            CASE WHEN n = 7 THEN now() + interval '1 minute' END, (n = 7)::int, (n = 7)::int
     FROM   crowd WHERE n BETWEEN 4 AND 7`,
    `INSERT INTO paused_lanes (queue, lane_id, reason)
     SELECT 'webhook', lane_id, 'crowd' FROM (SELECT DISTINCT lane_id FROM outbox WHERE queue = 'webhook' ORDER BY lane_id LIMIT 100) l`,
    'UPDATE webhooks SET put_back_before = now() WHERE id IN (SELECT id FROM webhooks ORDER BY id LIMIT 10)',
    'DROP TABLE crowd',
  ];
  await run(url, statements);
}

/** Brings the statistics of all tables up to date, however long that takes: a connection of ours would not wait for it. */
export async function analyze(url: string): Promise<void> {
  await run(url, ['ANALYZE']);
}

async function run(url: string, statements: readonly string[]): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    for (const statement of statements) await client.query(statement);
  } finally {
    await client.end();
  }
}
