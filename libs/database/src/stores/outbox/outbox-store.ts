import { type EmailId, suspensionProofNowMs, uuidOf } from '@posthorn/kernel';
import { type LaneDemand, type LaneId, MAX_DUE_COUNTED, type WithheldReason } from '@posthorn/domain';
import type { Database } from '../../connection/connection.ts';
import { AdaptiveGroupSize } from '../../transactions/adaptive-group-size.ts';
import type { WithEventLanes } from '../../transactions/due-event-lanes.ts';
import { COUNT_EMAILS, MEASURE_BACKLOG } from '../../sql/backlog.ts';
import {
  CLAIM_EMAILS,
  GIVE_BACK,
  LANES_WITH_READY_ROWS,
  RECORD_OUTCOMES,
  RENEW_LEASES,
  REVIVE,
  MAKE_READY,
} from '../../sql/outbox.ts';
import { ASK_WHY_WITHHELD } from '../../sql/withheld.ts';
import type { Claim, OutboxQueue } from './claim.ts';
import { CostlyLook } from './costly-look.ts';
import { ReadStarts } from './read-starts.ts';
import { type ClaimedEmail, claimedEmail, type ClaimRow, type EmailOutcome } from './claimed-email.ts';
import { withLockedRows } from '../with-locked-rows.ts';

interface LaneWithReadyRows {
  readonly queue: OutboxQueue;
  readonly laneId: LaneId;
  /** Whether its receiver is slow. */
  readonly isSlow: boolean;
}

/** What a statement has done that made rows ready in the order of a time. */
interface MovedRows {
  /** Up to this time it has done so with all, in seconds since 1970. */
  readonly readSeconds: number;
  /** Null: there are none, or they were not asked for. */
  readonly lanes: readonly LaneWithReadyRows[] | null;
}

interface MadeReady extends MovedRows {
  readonly madeReady: number;
}

interface Revived extends MovedRows {
  readonly revived: number;
  readonly givenUp: number;
}

export interface QueueBacklog {
  readonly queue: OutboxQueue;
  /** Those that are not paused. */
  readonly dueLanes: number;
  /** At most {@link MAX_DUE_COUNTED}, as is `leased`. */
  readonly due: number;
  readonly leased: number;
  /** Those that are leased, too; apart from what is paused, and from deliveries to slow receivers, which wait for these. */
  readonly oldestDueSeconds: number;
}

/** How many emails are due, waiting for their time, and claimed. */
export interface EmailBacklog {
  /** Each is counted up to this. */
  readonly countedTo: number;
  readonly due: number;
  readonly waiting: number;
  /** Whether more may be waiting: of all queues, only so many rows that wait were read. */
  readonly isMoreWaiting: boolean;
  readonly taken: number;
}

/** A hundred thousand of each take up to 2 s on a busy machine; a statement may take 5 s. */
const COUNTED_TO = 100_000;

/**
 * The outbox: claims and leases of due rows, and the outcomes of emails.
 *
 * Statements that the planner can plan in only one way are named (prepared), so that their plan is cached. The others are planned each time: the outbox may be
 * empty at one moment and have a million rows at the next, and a plan cached from the first might scan all of it for every row (seconds instead of 5 ms).
 */
export class OutboxStore {
  private readonly starts: Readonly<Record<'claimed' | 'ready' | 'revived', ReadStarts>>;
  private readonly lanesLook = new CostlyLook();
  /** By queue and id: those in which rows were made ready since all lanes were looked at, if that is costly. */
  private readonly readyLanes = new Map<string, LaneWithReadyRows>();
  private readonly sizes = { ready: new AdaptiveGroupSize(), revived: new AdaptiveGroupSize() };

  constructor(private readonly database: Pick<Database, 'pool' | 'clock' | 'onEventsDue'>) {
    const newStarts = () => new ReadStarts(database.clock);
    this.starts = { claimed: newStarts(), ready: newStarts(), revived: newStarts() };
  }

  /** Claims ready emails of several distinct lanes. */
  async claimEmails(
    demands: readonly LaneDemand[],
    maxBytesPerLane: number,
    leaseMs: number,
  ): Promise<ClaimedEmail[]> {
    const askedAtMs = suspensionProofNowMs();
    const rows = await this.starts.claimed.claim(demands, async (lanes) => {
      const values = [...lanes, maxBytesPerLane, `${leaseMs} ms`];
      const claim = { name: 'claim_emails', text: CLAIM_EMAILS, values };
      return (await this.database.pool.query<ClaimRow>(claim)).rows;
    });
    return rows.map((row) => claimedEmail(row, askedAtMs));
  }

  /** Records outcomes. @returns for each, whether its claim still held and so the outcome took effect */
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
      client.query<{ live: boolean } & WithEventLanes>({
        name: 'record_outcomes',
        text: RECORD_OUTCOMES,
        values: [JSON.stringify(json)],
      }),
    );
    this.announceDueEvents(rows);
    return rows.map((row) => row.live);
  }

  /** For each email, why it must be withheld from its recipient now; null: it need not be. */
  async askWhyWithheld(ids: readonly EmailId[]): Promise<(WithheldReason | null)[]> {
    const { rows } = await this.database.pool.query<{ id: string; withheldFor: WithheldReason | null }>(
      ASK_WHY_WITHHELD,
      [ids.map(uuidOf)],
    );
    const reasons = new Map(rows.map(({ id, withheldFor }) => [id, withheldFor]));
    return ids.map((id) => reasons.get(uuidOf(id)) ?? null);
  }

  /** Renews leases. @returns the claims that still hold */
  async renew<Held extends Claim>(claims: readonly Held[], leaseMs: number): Promise<Held[]> {
    const { rows } = await this.database.pool.query<{ id: string; claims: number }>(RENEW_LEASES, [
      ...claimColumns(claims),
      `${leaseMs} ms`,
    ]);
    const alive = new Set(rows.map((row) => `${row.id}/${row.claims}`));
    return claims.filter((claim) => alive.has(`${uuidOf(claim.id)}/${claim.claims}`));
  }

  /** Gives back claims whose work was not begun. */
  async giveBack(claims: readonly Claim[]): Promise<void> {
    await this.database.pool.query(GIVE_BACK, claimColumns(claims));
  }

  /** Makes up to `limit` due rows ready, fewer if that takes too long. @returns how many */
  makeReady(limit: number): Promise<number> {
    return this.sizes.ready.run(limit, async (max) => {
      const { madeReady } = await this.starts.ready.look(async (start) => {
        const values = [max, start, !this.lanesLook.isFast];
        const { rows } = await this.database.pool.query<MadeReady>(MAKE_READY, values);
        return this.noted(rows[0]!);
      });
      return madeReady;
    });
  }

  /**
   * Frees up to `limit` rows whose lease expired more than `graceMs` ago, fewer if that takes too long; gives up rows that would be freed too often.
   *
   * @param asOfMs a time of the database, in milliseconds since 1970: "ago" is counted from then, however late the statement is executed. Default: its present
   */
  async revive(
    graceMs: number,
    limit: number,
    maxUnanswered: number,
    asOfMs = Number.POSITIVE_INFINITY,
  ): Promise<{ revived: number; givenUp: number }> {
    return this.sizes.revived.run(limit, async (max) => {
      const { revived, givenUp } = await this.starts.revived.look(async (start) => {
        const values = [`${graceMs} ms`, max, maxUnanswered, start, !this.lanesLook.isFast, asOfMs / 1_000];
        const { rows } = await this.database.pool.query<Revived & WithEventLanes>(REVIVE, values);
        this.announceDueEvents(rows);
        return this.noted(rows[0]!);
      });
      return { revived, givenUp };
    });
  }

  /** How many emails are in each state, counted up to a number. */
  async countEmails(countedTo = COUNTED_TO): Promise<EmailBacklog> {
    const { rows } = await this.database.pool.query<Omit<EmailBacklog, 'countedTo'>>(COUNT_EMAILS, [
      countedTo,
    ]);
    return { countedTo, ...rows[0]! };
  }

  /** The backlog of each queue. The cost grows with the lanes, but not with their rows. */
  async measureBacklog(): Promise<QueueBacklog[]> {
    const { rows } = await this.database.pool.query<QueueBacklog>(MEASURE_BACKLOG, [MAX_DUE_COUNTED]);
    return rows;
  }

  /**
   * The lanes that have ready rows and are not paused. While looking at all of them is costly ({@link CostlyLook}), mostly only those in which this store has made
   * rows ready or revived some since.
   */
  async lanesWithReadyRows(): Promise<LaneWithReadyRows[]> {
    const all = await this.lanesLook.take(() =>
      this.database.pool.query<LaneWithReadyRows>(LANES_WITH_READY_ROWS),
    );
    const since = [...this.readyLanes.values()];
    this.readyLanes.clear();
    return all?.rows ?? since;
  }

  private noted<Found extends MovedRows>(found: Found): Found {
    for (const lane of found.lanes ?? []) this.readyLanes.set(`${lane.queue}/${lane.laneId}`, lane);
    return found;
  }

  /** Every row has the same lanes, those of the whole statement. */
  private announceDueEvents([row]: readonly WithEventLanes[]): void {
    if (row?.eventLanes) this.database.onEventsDue(row.eventLanes);
  }
}

function claimColumns(claims: readonly Claim[]): [string[], number[]] {
  return [claims.map((claim) => uuidOf(claim.id)), claims.map((claim) => claim.claims)];
}
