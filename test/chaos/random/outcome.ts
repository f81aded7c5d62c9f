import { createHmac } from 'node:crypto';
import { type EmailId, idFromUuid, uuidOf, type WorkspaceId } from '@posthorn/kernel';
import type { SinkMessage } from '@posthorn/testing';
import { headerValues } from '../../e2e/mail.ts';
import type { FeedEvent } from '../feed-follower.ts';
import type { Account } from './account.ts';
import type { Cluster } from './cluster.ts';

/** Of how many emails of a workspace the preview is compared with what has arrived. */
const PREVIEWS = 50;

/** An email as it is recorded, and as the relay has seen it. */
export interface RecordedEmail {
  readonly id: EmailId;
  readonly to: string;
  readonly messageId: string;
  readonly status: string;
  readonly timeline: readonly TimelineRow[];
  /** The bytes of each copy that has arrived. */
  readonly copies: readonly Buffer[];
  /** The message that its preview shows, for some that have arrived. */
  readonly preview?: Buffer | undefined;
}

interface TimelineRow {
  readonly kind: string;
  /** An outcome that came when it was decided already: it changed nothing. */
  readonly isLate: boolean;
  readonly mayBeDuplicate: boolean;
  /** The kind of report that it is; null: it is no report. */
  readonly report: string | null;
}

/** An event as it is recorded, with what the receivers have seen of it. */
export interface RecordedEvent {
  readonly id: string;
  readonly payload: string;
  readonly deliveries: readonly RecordedDelivery[];
}

export interface RecordedDelivery {
  readonly webhookId: string;
  readonly status: string;
  readonly posts: readonly SeenPost[];
}

/** A POST that a receiver has seen. */
interface SeenPost {
  readonly body: string;
  /** The header `webhook-id`. */
  readonly webhookId: string;
  /** Whether it is signed with any token that the webhooks of its workspace have ever had. */
  readonly isSigned: boolean;
}

/** What the audit log says that an operator has done to an email. */
export interface AuditRow {
  readonly action: string;
  readonly subjectId: string;
  /** Of which email this is a copy, if it was sent again. */
  readonly copyOf: string | null;
}

/** What became of a workspace. */
export interface Outcome {
  readonly workspaceId: WorkspaceId;
  readonly limit: number | null;
  readonly webhookIds: readonly string[];
  readonly emails: readonly RecordedEmail[];
  readonly events: readonly RecordedEvent[];
  readonly audit: readonly AuditRow[];
  /** How many emails count for its limit. */
  readonly counted: number;
  /** What the API says of all its emails, by status. */
  readonly stats: Readonly<Record<string, number>>;
  /** What a client has read that followed the feed all the time, and what one reads that begins now. */
  readonly followed: readonly FeedEvent[];
  readonly feed: readonly FeedEvent[];
}

export async function readOutcome(
  cluster: Cluster,
  account: Account,
  followed: readonly FeedEvent[],
): Promise<Outcome> {
  const { workspaceId } = account.tenant;
  const { stack } = cluster;
  const feed = account.follower();
  await feed.readOn();
  const { stats } = (await account.get('/v1/stats')).body as { stats: { total: Record<string, number> } };
  const used = 'SELECT COALESCE(sum(accepted), 0) AS count FROM usage WHERE workspace_id = $1';
  return {
    workspaceId,
    limit: account.limit,
    webhookIds: account.webhookIds,
    emails: await readEmails(cluster, account),
    events: await readEvents(cluster, account),
    audit: await readAudit(cluster, workspaceId),
    counted: await stack.count(used, [uuidOf(workspaceId)]),
    stats: stats.total,
    followed,
    feed: feed.events,
  };
}

async function readEmails({ stack }: Cluster, account: Account): Promise<RecordedEmail[]> {
  const arrived = Map.groupBy(stack.sink.messages, messageIdOf);
  const { rows } = await stack.database.pool.query<Omit<RecordedEmail, 'copies' | 'preview'>>(
    `SELECT type_id('trs', e.id) AS id, to_address AS to, message_id AS "messageId", status,
            COALESCE((SELECT json_agg(json_build_object('kind', v.kind, 'isLate', v.late, 'mayBeDuplicate', v.duplicate_possible, 'report', v.report) ORDER BY v.id)
                      FROM   email_events v
                      WHERE  v.email_id = e.id), '[]') AS timeline
     FROM   emails e
     WHERE  workspace_id = $1`,
    [uuidOf(account.tenant.workspaceId)],
  );
  const emails = rows.map((row) => ({
    ...row,
    copies: (arrived.get(row.messageId) ?? []).map(({ raw }) => raw),
  }));
  const previewed = emails.filter(({ copies }) => copies.length > 0).slice(-PREVIEWS);
  const previews = await Promise.all(previewed.map(({ id }) => readPreview(account, id)));
  const previewOf = new Map(previewed.map(({ id }, n) => [id, previews[n]!]));
  return emails.map((email) => ({ ...email, preview: previewOf.get(email.id) }));
}

async function readPreview(account: Account, id: EmailId): Promise<Buffer> {
  const { preview } = (await account.get(`/v1/emails/${id}/preview`)).body as {
    preview: { message: string };
  };
  return Buffer.from(preview.message);
}

async function readAudit({ stack }: Cluster, workspaceId: WorkspaceId): Promise<AuditRow[]> {
  const { rows } = await stack.database.pool.query<AuditRow>(
    `SELECT action, subject_id AS "subjectId", detail ->> 'copyOf' AS "copyOf" FROM audit_log
     WHERE  workspace_id = $1 AND starts_with(action, 'email.')`,
    [uuidOf(workspaceId)],
  );
  return rows;
}

export function messageIdOf(message: SinkMessage): string {
  return headerValues(message, 'Message-ID')[0]!.slice(1, -1);
}

async function readEvents(
  { stack, receivers }: Cluster,
  { tenant, tokens }: Account,
): Promise<RecordedEvent[]> {
  const posts = Map.groupBy(
    receivers.flatMap((receiver) => receiver.posts),
    ({ headers }) => headers['x-service-delivery-id'],
  );
  const { rows } = await stack.database.pool.query<EventRow>(
    `SELECT e.id, payload,
            COALESCE((SELECT json_agg(json_build_object('id', d.id, 'webhook', d.webhook_id, 'status', d.status))
                      FROM   webhook_deliveries d
                      WHERE  d.event_id = e.id), '[]') AS deliveries
     FROM   events e
     WHERE  workspace_id = $1`,
    [uuidOf(tenant.workspaceId)],
  );
  return rows.map(({ id, payload, deliveries }) => ({
    id: idFromUuid('evt', id),
    payload,
    deliveries: deliveries.map((delivery) => ({
      webhookId: idFromUuid('wh', delivery.webhook),
      status: delivery.status,
      posts: (posts.get(idFromUuid('dlv', delivery.id)) ?? []).map(({ body, headers }) => ({
        body: body.toString(),
        webhookId: String(headers['webhook-id']),
        isSigned: isSigned(body, String(headers['x-service-signature']), tokens),
      })),
    })),
  }));
}

function isSigned(body: Buffer, signature: string, tokens: readonly string[]): boolean {
  return tokens.some((token) => createHmac('sha256', token).update(body).digest('hex') === signature);
}

interface EventRow {
  readonly id: string;
  readonly payload: string;
  readonly deliveries: readonly { readonly id: string; readonly webhook: string; readonly status: string }[];
}
