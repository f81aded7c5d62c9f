import { type EmailId, type Id, uuidOf, type WorkspaceId } from '@posthorn/kernel';
import type { LaneId, SuppressionReason, WithheldReason } from '@posthorn/domain';
import type pg from 'pg';
import type { Database } from '../connection.ts';
import {
  CLAIM_EMAILS,
  COUNT_EMAILS,
  MEASURE_BACKLOG,
  GIVE_BACK,
  LANES_WITH_READY_ROWS,
  RECORD_OUTCOMES,
  RENEW_LEASES,
  REVIVE,
  RIPEN,
} from '../sql/outbox.ts';
import { ASK_WHY_WITHHELD } from '../sql/withheld.ts';
import { withLockedRows } from './with-locked-rows.ts';
import { composableEmail, type ComposableEmail, type CompositionRow } from './composable-email.ts';

/** Which consumer a row is for. */
export type OutboxQueue = 'email' | 'event' | 'webhook';

/** A row that this process may work on while its lease lives. `claims` is the fencing token. */
export interface Claim {
  readonly id: Id<string>;
  readonly claims: number;
}

/** A row that was claimed, whatever it is of. */
export interface ClaimedRow extends Claim {
  readonly laneId: LaneId;
  /** Answers recorded before, since it was last made due anew: the step in its retry table. */
  readonly attempts: number;
  readonly bytes: number;
  /** Whether the claim left ready rows of this lane behind. */
  readonly laneHasMore: boolean;
}

/** An email that was claimed, with all that sending it needs. */
export interface ClaimedEmail extends ComposableEmail, ClaimedRow {
  readonly id: EmailId;
  /** Why nothing is to be sent to its recipient, when it was claimed; null: it is. */
  readonly withheldFor: WithheldReason | null;
  /** When that was asked, by `performance.now()`. */
  readonly askedAtMs: number;
  /** The place in its trace of what asked for it; null: traces were off. */
  readonly traceparent: string | null;
}

/** A lane that has work. */
export interface LaneWithReadyRows {
  readonly queue: OutboxQueue;
  readonly laneId: LaneId;
  /** Whether its receiver lets us wait. */
  readonly isSlow: boolean;
}

export interface LaneDemand {
  readonly laneId: LaneId;
  readonly maxRows: number;
}

/** What became of a claimed email; see RECORD_OUTCOMES for what each field does. */
export interface EmailOutcome extends Claim {
  readonly id: EmailId;
  readonly workspaceId: WorkspaceId;
  readonly kind: 'SENT' | 'DELAYED' | 'REPLY_LOST' | 'BOUNCED' | 'FAILED' | 'SUPPRESSED';
  /** The email's new status; null: unchanged. */
  readonly status: 'SENT' | 'BOUNCED' | 'FAILED' | 'SUPPRESSED' | null;
  /** When it is tried again, counted from the record; null: it is finished. */
  readonly retryAfterMs: number | null;
  /** The lane in which it waits for that. */
  readonly laneId: LaneId;
  readonly duplicatePossible: boolean;
  /** What its recipient is put on the suppression list for; absent: it is not. */
  readonly suppression?: SuppressionReason | null;
  readonly detail: object;
}

/** What a statement says of the events that it has recorded. */
interface WithEvents {
  /** The lanes in which they are due; null: there are none. */
  readonly eventLanes: LaneId[] | null;
}

interface ClaimRow extends CompositionRow {
  laneId: LaneId;
  claims: number;
  attempts: number;
  bytes: number;
  laneHasMore: boolean;
  withheldFor: WithheldReason | null;
  traceparent: string | null;
}

/** What waits in a queue. */
export interface QueueBacklog {
  readonly queue: OutboxQueue;
  /** Of the first thousand. */
  readonly dueLanes: number;
  /** Of the first hundred thousand, as is `leased`. */
  readonly due: number;
  readonly leased: number;
  readonly oldestDueSeconds: number;
}

/** How many emails are due, wait for their time, and are being worked on; none is counted beyond a million. */
export interface EmailBacklog {
  readonly due: number;
  readonly waiting: number;
  readonly taken: number;
}

const COUNTED_TO = 1_000_000;
const MEASURED_TO = 100_000;

/**
 * What is due, who has it, and what became of it.
 *
 * Its statements have no name, so that Postgres plans each anew: the outbox is empty at one moment and holds a million rows at
 * the next, and a plan kept from the first reads all of it for every row of a claim (seconds, where 5 ms are needed).
 */
export class OutboxStore {
  private readonly pool: pg.Pool;

  constructor(private readonly database: Pick<Database, 'pool' | 'onEventsDue'>) {
    this.pool = database.pool;
  }

  /** Claims up to so many ready emails of each lane. No lane may be named twice. */
  async claimEmails(
    demands: readonly LaneDemand[],
    maxBytesPerLane: number,
    leaseMs: number,
  ): Promise<ClaimedEmail[]> {
    const askedAtMs = performance.now();
    const { rows } = await this.pool.query<ClaimRow>({
      text: CLAIM_EMAILS,
      values: [
        demands.map((demand) => demand.laneId),
        demands.map((demand) => demand.maxRows),
        maxBytesPerLane,
        `${leaseMs} ms`,
      ],
    });
    return rows.map((row) => claimedEmail(row, askedAtMs));
  }

  /** Records outcomes; says for each whether its claim still held, and so whether it changed the email's state. */
  async record(outcomes: readonly EmailOutcome[]): Promise<boolean[]> {
    const json = outcomes.map((outcome, n) => ({
      n,
      id: uuidOf(outcome.id),
      workspace_id: uuidOf(outcome.workspaceId),
      claims: outcome.claims,
      kind: outcome.kind,
      status: outcome.status,
      retry_after_ms: outcome.retryAfterMs,
      lane_id: outcome.laneId,
      duplicate_possible: outcome.duplicatePossible,
      suppression: outcome.suppression,
      detail: outcome.detail,
    }));
    const ids = json.map(({ id }) => id);
    const { rows } = await withLockedRows(this.database, ids, (client) =>
      client.query<{ live: boolean } & WithEvents>({
        text: RECORD_OUTCOMES,
        values: [JSON.stringify(json)],
      }),
    );
    this.ringForEvents(rows);
    return rows.map((row) => row.live);
  }

  /** Why nothing is to be sent to the recipients of these emails just now, in their order; null: it is. */
  async askWhyWithheld(ids: readonly EmailId[]): Promise<(WithheldReason | null)[]> {
    const { rows } = await this.pool.query<{ id: string; withheldFor: WithheldReason | null }>(
      ASK_WHY_WITHHELD,
      [ids.map(uuidOf)],
    );
    const reasons = new Map(rows.map(({ id, withheldFor }) => [id, withheldFor]));
    return ids.map((id) => reasons.get(uuidOf(id)) ?? null);
  }

  /** Renews leases; gives back those that still hold. */
  async renew<Held extends Claim>(claims: readonly Held[], leaseMs: number): Promise<Held[]> {
    const { rows } = await this.pool.query<{ id: string; claims: number }>(RENEW_LEASES, [
      ...columnsOf(claims),
      `${leaseMs} ms`,
    ]);
    const alive = new Set(rows.map((row) => `${row.id}/${row.claims}`));
    return claims.filter((claim) => alive.has(`${uuidOf(claim.id)}/${claim.claims}`));
  }

  /** Gives back what was claimed and not begun. */
  async giveBack(claims: readonly Claim[]): Promise<void> {
    await this.pool.query(GIVE_BACK, columnsOf(claims));
  }

  /** Makes up to `limit` due rows ready; says how many there were. */
  async ripen(limit: number): Promise<number> {
    const { rowCount } = await this.pool.query(RIPEN, [limit]);
    return rowCount ?? 0;
  }

  /** Frees up to `limit` rows whose lease ended more than `graceMs` ago, and gives up those that were freed too often. */
  async revive(
    graceMs: number,
    limit: number,
    maxUnanswered: number,
  ): Promise<{ revived: number; givenUp: number }> {
    const { rows } = await this.pool.query<{ revived: number; givenUp: number } & WithEvents>({
      text: REVIVE,
      values: [`${graceMs} ms`, limit, maxUnanswered],
    });
    this.ringForEvents(rows);
    const { revived, givenUp } = rows[0]!;
    return { revived, givenUp };
  }

  /** How many emails are in each state. */
  async countEmails(): Promise<EmailBacklog> {
    const { rows } = await this.pool.query<EmailBacklog>(COUNT_EMAILS, [COUNTED_TO]);
    return rows[0]!;
  }

  /** What waits in each queue that nothing holds back, by the clock of the database. It costs the same whatever waits. */
  async measureBacklog(): Promise<QueueBacklog[]> {
    const { rows } = await this.pool.query<QueueBacklog>(MEASURE_BACKLOG, [MEASURED_TO]);
    return rows;
  }

  /** The lanes that have ready rows and are not paused. */
  async lanesWithReadyRows(): Promise<LaneWithReadyRows[]> {
    const { rows } = await this.pool.query<LaneWithReadyRows>({ text: LANES_WITH_READY_ROWS });
    return rows;
  }

  /** Each row says the same of the whole statement. */
  private ringForEvents([row]: readonly WithEvents[]): void {
    if (row?.eventLanes) this.database.onEventsDue(row.eventLanes);
  }
}

function columnsOf(claims: readonly Claim[]): [string[], number[]] {
  return [claims.map((claim) => uuidOf(claim.id)), claims.map((claim) => claim.claims)];
}

function claimedEmail(row: ClaimRow, askedAtMs: number): ClaimedEmail {
  const { laneId, claims, attempts, bytes, laneHasMore, withheldFor, traceparent } = row;
  const claim = { laneId, claims, attempts, bytes, laneHasMore };
  return { ...composableEmail(row), ...claim, withheldFor, askedAtMs, traceparent };
}
