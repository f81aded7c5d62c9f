import { type DeliveryId, type EmailId, newId, sleep, uuidOf, type WorkspaceId } from '@posthorn/kernel';
import { bulkLane, nowLane, POSTHORN, retryLaneOf } from '@posthorn/domain';
import { PATIENT_LIMITS } from '@posthorn/testing';
import type pg from 'pg';
import { type Database, openDatabase } from './connection/connection.ts';
import type {
  AcceptableRawEmail,
  AcceptableEmail,
  AcceptanceOutcome,
} from './stores/acceptance/acceptable-email.ts';
import { AcceptanceStore } from './stores/acceptance/acceptance-store.ts';
import type { OutboxQueue } from './stores/outbox/claim.ts';
import type { ClaimedEmail, EmailOutcome } from './stores/outbox/claimed-email.ts';
import { OutboxStore } from './stores/outbox/outbox-store.ts';
import { IdentityStore } from './stores/identities/identity-store.ts';
import { WorkspaceStore } from './stores/workspaces/workspace-store.ts';

const UNLIMITED_BYTES = 2 ** 40;
const LEASE_MS = 60_000;
const GRACE_MS = 15_000;
const MAX_UNANSWERED = 5;

/** The arguments of `OutboxStore.revive`. */
interface Revival {
  readonly graceMs?: number;
  readonly limit?: number;
  readonly maxUnanswered?: number;
  readonly asOfMs?: number;
}

/** The stores of one simulated process on a test database, with helpers for tests; it has more patience than a real one, unless told otherwise. */
export class TestStores {
  readonly database: Database;
  readonly acceptance: AcceptanceStore;
  readonly outbox: OutboxStore;
  readonly #others: TestStores[] = [];

  constructor(
    readonly url: string,
    poolSize = 8,
    limits: Partial<Database['limits']> = {},
  ) {
    this.database = openDatabase({
      url,
      poolSize,
      applicationName: 'test',
      limits: { ...PATIENT_LIMITS, ...limits },
    });
    this.acceptance = new AcceptanceStore(this.database);
    this.outbox = new OutboxStore(this.database);
  }

  /** The stores of another process on the same database, closed with these. */
  another(poolSize?: number, limits?: Partial<Database['limits']>): TestStores {
    const other = new TestStores(this.url, poolSize, limits);
    this.#others.push(other);
    return other;
  }

  async close(): Promise<void> {
    await Promise.all([this.database.close(), ...this.#others.map((other) => other.close())]);
  }

  async ask<Row extends pg.QueryResultRow>(sql: string, values: unknown[] = []): Promise<Row[]> {
    return (await this.database.pool.query<Row>(sql, values)).rows;
  }

  async count(table: string, where = 'true', values: unknown[] = []): Promise<number> {
    const [row] = await this.ask<{ count: number }>(
      `SELECT count(*)::int AS count FROM ${table} WHERE ${where}`,
      values,
    );
    return row!.count;
  }

  /** Does something, and says between which times of the database it was done. */
  async duringDatabaseTime<Result>(
    work: () => Promise<Result>,
  ): Promise<{ readonly result: Result; readonly from: Date; readonly to: Date }> {
    const now = async (): Promise<Date> => (await this.ask<{ now: Date }>('SELECT now()'))[0]!.now;
    const from = await now();
    const result = await work();
    return { result, from, to: await now() };
  }

  /** How many statements wait for a lock. */
  countWaiting(): Promise<number> {
    return this.count('pg_stat_activity', "wait_event_type = 'Lock' AND datname = current_database()");
  }

  /** Resolves when this number of statements wait for a lock. */
  async untilWaiting(statements = 1): Promise<void> {
    while ((await this.countWaiting()) < statements) await sleep(5);
  }

  /** Resolves when all committed events can be read in the feed: transactions in other databases of the server delay that, too. */
  async untilInFeed(): Promise<void> {
    const sql = `era = (SELECT max(era) FROM event_eras) AND xid >= pg_snapshot_xmin(pg_current_snapshot())`;
    while ((await this.count('events', sql)) > 0) await sleep(10);
  }

  /** A workspace that may send from example.com. */
  async openWorkspace(monthlyEmailLimit: number | null = null): Promise<WorkspaceId> {
    const { id } = await new WorkspaceStore(this.database).create(POSTHORN, 'Acme', monthlyEmailLimit);
    await new IdentityStore(this.database).put(id, POSTHORN, {
      kind: 'domain',
      value: 'example.com',
      verified: true,
    });
    return id;
  }

  /** Accepts emails that are due now, at increasing times (close together, so that `ReadStarts` skips none); returns their ids, in that order. */
  async acceptEmails(
    workspaceId: WorkspaceId,
    count: number,
    change: Partial<AcceptableRawEmail> = {},
  ): Promise<EmailId[]> {
    const begunAt = Date.now() - 3_600_000;
    const emails = Array.from({ length: count }, (_, n) =>
      rawEmail(workspaceId, { acceptedAt: new Date(begunAt + n), ...change }),
    );
    const outcomes = await this.accept(emails);
    if (outcomes.some((outcome) => outcome.kind !== 'accepted')) throw new Error(JSON.stringify(outcomes));
    return emails.map((email) => email.id);
  }

  /** Accepts emails, each in a call of its own; returns their outcomes. */
  async accept(
    emails: readonly AcceptableEmail[],
    monthlyLimit: number | null = null,
  ): Promise<AcceptanceOutcome[]> {
    const calls = emails.map((email) => ({ workspaceId: email.workspaceId, emails: [email] }));
    const outcomes = await this.acceptance.accept(calls, monthlyLimit);
    return outcomes.map((outcome) => {
      if (outcome.kind !== 'decided') throw new Error(JSON.stringify(outcome));
      return outcome.emails[0]!;
    });
  }

  /** Claims from a workspace's `now` lane, whatever the size. */
  claim(workspaceId: WorkspaceId, maxRows = 100, leaseMs = LEASE_MS): Promise<ClaimedEmail[]> {
    return this.outbox.claimEmails([{ laneId: nowLane(workspaceId), maxRows }], UNLIMITED_BYTES, leaseMs);
  }

  /** Accepts one email and claims it. */
  async acceptAndClaim(workspaceId: WorkspaceId): Promise<ClaimedEmail> {
    await this.acceptEmails(workspaceId, 1);
    return (await this.claim(workspaceId))[0]!;
  }

  /** Makes due rows ready as a clock does that has just started: one that has waited for a busy machine twice would skip those that are due for long (`ReadStarts`). */
  makeReady(limit = 10): Promise<number> {
    return new OutboxStore(this.database).makeReady(limit);
  }

  /** Revives rows as a clock does that has just started, like {@link makeReady}. */
  revive({ graceMs = GRACE_MS, limit = 10, maxUnanswered = MAX_UNANSWERED, asOfMs }: Revival = {}): Promise<{
    revived: number;
    givenUp: number;
  }> {
    return new OutboxStore(this.database).revive(graceMs, limit, maxUnanswered, asOfMs);
  }

  /** Pauses a lane; `*`: all lanes of the queue. */
  async pause(queue: OutboxQueue, laneId: string): Promise<void> {
    await this.ask(`INSERT INTO paused_lanes (queue, lane_id, reason) VALUES ($1, $2, 'test')`, [
      queue,
      laneId,
    ]);
  }

  async resume(queue: OutboxQueue, laneId: string): Promise<void> {
    await this.ask('DELETE FROM paused_lanes WHERE queue = $1 AND lane_id = $2', [queue, laneId]);
  }

  /** As if the process that holds these rows had died long ago. */
  async letLeasesEnd(ids: readonly (EmailId | DeliveryId)[]): Promise<void> {
    await this.ask(
      `UPDATE outbox SET lease_until = now() - interval '1 hour' WHERE subject_id = ANY($1::uuid[])`,
      [ids.map(uuidOf)],
    );
  }

  /** The outbox row of an email. */
  async rowOf(id: EmailId): Promise<OutboxRow | undefined> {
    const [row] = await this.ask<OutboxRow>(
      `SELECT state, lane_id AS "laneId", claims, attempts, unanswered,
              due_at AS "dueAt", lease_until AS "leaseUntil",
              extract(epoch FROM due_at - now())::float8 AS "dueInSeconds",
              extract(epoch FROM lease_until - now())::float8 AS "leaseSeconds"
       FROM   outbox WHERE subject_id = $1`,
      [uuidOf(id)],
    );
    return row;
  }

  async statusOf(id: EmailId): Promise<string | undefined> {
    const [row] = await this.ask<{ status: string }>('SELECT status FROM emails WHERE id = $1', [uuidOf(id)]);
    return row?.status;
  }

  async timelineOf(id: EmailId): Promise<TimelineRow[]> {
    return this.ask<TimelineRow>(
      `SELECT kind, claims, late, duplicate_possible AS "duplicatePossible"
       FROM   email_events WHERE email_id = $1 ORDER BY claims, kind`,
      [uuidOf(id)],
    );
  }
}

export interface OutboxRow {
  readonly state: string;
  readonly laneId: string;
  readonly claims: number;
  readonly attempts: number;
  readonly unanswered: number;
  readonly dueAt: Date;
  readonly leaseUntil: Date | null;
  readonly dueInSeconds: number;
  readonly leaseSeconds: number | null;
}

export interface TimelineRow {
  readonly kind: string;
  readonly claims: number | null;
  readonly late: boolean;
  readonly duplicatePossible: boolean;
}

/** A raw email from example.com that is due now. */
export function rawEmail(
  workspaceId: WorkspaceId,
  change: Partial<AcceptableRawEmail> = {},
): AcceptableRawEmail {
  const acceptedAt = new Date();
  const id = newId('trs', acceptedAt.getTime());
  return {
    id,
    workspaceId,
    type: 'raw',
    status: 'SENT',
    from: { address: 'hello@example.com' },
    fromDomain: 'example.com',
    to: { address: 'ada@example.net' },
    replyTo: [],
    subject: 'Welcome',
    messageId: `${id}@example.com`,
    trackClicks: false,
    trackOpens: false,
    unsubscribe: false,
    html: '<p>Welcome</p>',
    sendAt: null,
    acceptedAt,
    laneId: nowLane(workspaceId),
    bytes: 42,
    bytesToAccept: 42,
    ...change,
  };
}

/** An email that is scheduled for `sendAt`. */
export function scheduledEmail(workspaceId: WorkspaceId, sendAt: Date): AcceptableEmail {
  return rawEmail(workspaceId, { status: 'SCHEDULED', sendAt, laneId: bulkLane(workspaceId) });
}

/** The outcome of an email that the relay accepted. */
export function sent(email: Pick<EmailOutcome, 'id' | 'workspaceId' | 'claims' | 'laneId'>): EmailOutcome {
  const { id, workspaceId, claims, laneId } = email;
  return {
    id,
    workspaceId,
    claims,
    laneId,
    kind: 'SENT',
    status: 'SENT',
    retryAfterMs: null,
    duplicatePossible: false,
    suppression: null,
    detail: { attempt: 1 },
  };
}

/** The outcome of an email that the relay deferred. */
export function delayed(email: ClaimedEmail, retryAfterMs = 60_000): EmailOutcome {
  return { ...sent(email), kind: 'DELAYED', status: null, retryAfterMs, laneId: retryLaneOf(email.laneId) };
}
