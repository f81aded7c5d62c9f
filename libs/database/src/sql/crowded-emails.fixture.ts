import { uuidOf, type WorkspaceId } from '@posthorn/kernel';
import pg from 'pg';

/** Partitions of `emails` for months that have passed; the service makes only those to come. */
const PAST_PARTITIONS = `
DO $$
DECLARE
  month timestamp;
BEGIN
  FOR ago IN 1 .. 4 LOOP
    month := date_trunc('month', now() AT TIME ZONE 'UTC') - make_interval(months => ago);
    EXECUTE format('CREATE TABLE IF NOT EXISTS %I PARTITION OF emails FOR VALUES FROM (%L) TO (%L)',
      'emails_' || to_char(month, 'YYYY_MM'),
      uuid_v7_floor(month AT TIME ZONE 'UTC'), uuid_v7_floor((month + interval '1 month') AT TIME ZONE 'UTC'));
  END LOOP;
END
$$`;

/**
 * Emails of a workspace, evenly over time: of a thousand 40 are BOUNCED, 10 FAILED, 5 CANCELLED, 5 SCHEDULED, and the others SENT.
 * Every fifth is in the group `many`, every tenth made from the template `welcome`.
 */
const CROWD = `
INSERT INTO emails (id, workspace_id, type, status, from_address, to_address, subject, template_name, template_version_id,
                    message_id, group_by, track_clicks, track_opens, send_at, accepted_at)
SELECT overlay(gen_random_uuid()::text PLACING substr(uuid_v7_floor(t.at)::text, 1, 13) FROM 1 FOR 13)::uuid, $1::uuid,
       CASE WHEN n % 10 = 3 THEN 'templated' ELSE 'raw' END::email_type, s.status,
       'hello@example.com', 'user' || n % 5000 || '@example.net',
       CASE WHEN n % 10 <> 3 THEN 'Order ' || n END, CASE WHEN n % 10 = 3 THEN 'welcome' END,
       CASE WHEN n % 10 = 3 THEN gen_random_uuid() END,
       n || '@example.com', CASE WHEN n % 5 = 0 THEN 'many' WHEN n % 5 = 1 THEN 'order-' || n % 1000 END,
       false, false, CASE WHEN s.status = 'SCHEDULED' THEN t.at + interval '1 day' END, t.at
FROM   generate_series(0, $2::int - 1) n
CROSS JOIN LATERAL (SELECT date_trunc('milliseconds', $3::timestamptz + n * ($4::timestamptz - $3::timestamptz) / $2::int) AS at) t
CROSS JOIN LATERAL (
  SELECT CASE WHEN n % 1000 < 40 THEN 'BOUNCED' WHEN n % 1000 < 50 THEN 'FAILED' WHEN n % 1000 < 55 THEN 'CANCELLED'
              WHEN n % 1000 < 60 THEN 'SCHEDULED' ELSE 'SENT' END::email_status AS status) s`;

/** Partitions of `emails` with pages that are not marked as visible to everybody. */
const UNMARKED = `
SELECT FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid
WHERE  i.inhparent = 'emails'::regclass AND c.relallvisible < c.relpages`;

/** Writes `count` emails of a workspace, accepted evenly between two moments, into the tables of emails alone; and cleans up, as time does. */
export async function crowdEmails(
  url: string,
  workspaceId: WorkspaceId,
  { count, from, to }: { count: number; from: Date; to: Date },
): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    await client.query(PAST_PARTITIONS);
    await client.query(CROWD, [uuidOf(workspaceId), count, from, to]);
    // An older transaction, such as one of autovacuum, keeps VACUUM from marking what it may still see; index-only scans then read the table.
    do await client.query('VACUUM ANALYZE emails');
    while ((await client.query(UNMARKED)).rows.length > 0);
  } finally {
    await client.end();
  }
}
