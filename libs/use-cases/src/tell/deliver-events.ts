import { Coalescer, type WebhookId } from '@posthorn/kernel';
import type { LaneId } from '@posthorn/domain';
import type {
  ClaimedDelivery,
  DeliveryAttempt,
  DeliveryStore,
  Judgement,
  LaneDemand,
  OutboxStore,
  ReceiverHealthStore,
  ReceiverReport,
  ClaimCapacity,
} from '@posthorn/database';
import type { LaneRings } from '@posthorn/queues';
import { OutcomeRecorder, type Recorded } from '../lanes/outcome-recorder.ts';
import { type LaneTimes, ServeLanes } from '../lanes/serve-lanes.ts';
import { countAttempts } from './count-attempts.ts';
import type { DeliverEvent } from './deliver-event.ts';
import type { ToldOutcome } from './outcome-of-post.ts';
import { SlowLanesSeen } from './slow-lanes-seen.ts';

/** A few times the POSTs: enough to keep them going while the next claim is under way. */
const ROWS_IN_HAND_PER_CONNECTION = 6;
/** What a killed process may have posted without its being recorded: as much as is under way, and as much again. */
const ROWS_UNRECORDED_PER_CONNECTION = 2;
const MAX_BYTES_IN_HAND = 32 * 1024 * 1024;
/** One webhook may have so much of the places: one that hangs has them for as long as it takes to find that out. */
const MAX_SHARE_PER_LANE = 1 / 4;
/** Slow webhooks are served a few deliveries at a time. */
const ROWS_PER_SLOW_LANE = 5;
const MAX_REPORTS_PER_GROUP = 100;

type Rings = Pick<LaneRings, 'ringAll' | 'ringSlot'>;
type TimedDelivery = ClaimedDelivery & { readonly claimedAt: number };

interface DeliverEventsOptions extends LaneTimes {
  readonly outbox: OutboxStore;
  readonly deliveries: DeliveryStore;
  readonly health: Pick<ReceiverHealthStore, 'learn'>;
  readonly delivery: Pick<DeliverEvent, 'deliver'>;
  readonly rings: { readonly webhook: Rings; readonly slowWebhook: Rings };
  /** How many deliveries are posted at once to receivers that answer in time. */
  readonly connections: number;
  /** How many at once to the others. */
  readonly slowConnections: number;
  /** Told when a workspace will be told of a webhook. */
  readonly onJudgement: (judgement: Judgement) => void;
  readonly onError: (error: unknown) => void;
}

/**
 * Serves the turns of the lanes of webhooks: claim, sign, post, decide, record. Receivers that keep us waiting are served by places of their
 * own, so that a thousand of them take nobody else's.
 */
export class DeliverEvents {
  private readonly slowLanes = new SlowLanesSeen();
  /** What is learnt of receivers while they keep us waiting. */
  private readonly waits = new Coalescer<ReceiverReport, undefined>({
    serve: async (reports) => {
      await this.learn(reports);
      return reports.map(() => undefined);
    },
    maxItems: MAX_REPORTS_PER_GROUP,
  });
  private readonly usual: ServeLanes<TimedDelivery, ToldOutcome>;
  private readonly slow: ServeLanes<TimedDelivery, ToldOutcome>;

  constructor(private readonly options: DeliverEventsOptions) {
    const { connections, slowConnections, rings, onError } = options;
    const recorder = new OutcomeRecorder<ToldOutcome>({
      record: (outcomes) => this.record(outcomes),
      bare,
      onError,
    });
    const common = { ...options, recorder, maxBytes: MAX_BYTES_IN_HAND };
    this.usual = new ServeLanes({
      ...common,
      rings: rings.webhook,
      concurrency: connections,
      maxRows: connections * ROWS_IN_HAND_PER_CONNECTION,
      maxUnrecorded: connections * ROWS_UNRECORDED_PER_CONNECTION,
      // While somebody holds a webhook its outcomes are put off.
      maxUnrecordedPerLane: connections,
      maxPermitsPerLane: Math.max(1, Math.ceil(connections * MAX_SHARE_PER_LANE)),
      claim: (demands, maxBytes) => this.claim(demands, maxBytes, false),
      work: (...one) => this.workUnlessSlow(...one),
    });
    this.slow = new ServeLanes({
      ...common,
      rings: rings.slowWebhook,
      rowsPerTurn: ROWS_PER_SLOW_LANE,
      concurrency: slowConnections,
      maxRows: slowConnections * ROWS_IN_HAND_PER_CONNECTION,
      maxUnrecorded: slowConnections * ROWS_UNRECORDED_PER_CONNECTION,
      maxRowsPerLane: ROWS_PER_SLOW_LANE,
      minRowsForNewLane: 0,
      claim: (demands, maxBytes) => this.claim(demands, maxBytes, true),
      work: (delivery, mayStillBegin) => options.delivery.deliver(delivery, mayStillBegin),
    });
  }

  /** Serves one turn of a webhook's lane. */
  serve(laneId: LaneId, slot: string): Promise<void> {
    return this.usual.serve(laneId, slot);
  }

  /** Serves one turn of a lane whose receiver keeps us waiting. */
  serveSlow(laneId: LaneId, slot: string): Promise<void> {
    return this.slow.serve(laneId, slot);
  }

  /**
   * Posts what is claimed for the room that there is.
   *
   * @param wanted at most so many deliveries
   * @param claim told how much room there is, none perhaps
   */
  takeUp(
    wanted: number,
    claim: (capacity: ClaimCapacity) => Promise<readonly ClaimedDelivery[]>,
  ): Promise<void> {
    const claimedAt = performance.now();
    return this.usual.spareCapacity.fill(wanted, async (capacity) =>
      withTime(await claim(capacity), claimedAt),
    );
  }

  /** Resolves when there is room for so many deliveries, or after `withinMs` at the latest. */
  waitForCapacityFor(deliveries: number, withinMs: number): Promise<void> {
    return this.usual.spareCapacity.waitForCapacityFor(deliveries, withinMs);
  }

  /** Posts nothing more, gives back what was not posted, and resolves when what was is recorded. */
  async drain(): Promise<void> {
    await Promise.all([this.usual.drain(), this.slow.drain()]);
  }

  private async claim(
    demands: readonly LaneDemand[],
    maxBytes: number,
    areSlow: boolean,
  ): Promise<TimedDelivery[]> {
    const { deliveries, leaseMs } = this.options;
    const claimedAt = performance.now();
    return withTime(await deliveries.claim(demands, maxBytes, leaseMs, areSlow), claimedAt);
  }

  /** What was claimed before its receiver turned out to be slow is left to those who serve slow ones. */
  private async workUnlessSlow(
    delivery: TimedDelivery,
    mayStillBegin: () => boolean,
    releasePermitEarly: () => void,
  ): Promise<ToldOutcome | undefined> {
    if (this.slowLanes.wasSeenSince(delivery.laneId, delivery.claimedAt)) return undefined;
    let learning: Promise<void> | undefined;
    const outcome = await this.options.delivery.deliver(delivery, mayStillBegin, (report) => {
      releasePermitEarly();
      learning = this.learnOfWait(delivery, report);
    });
    await learning;
    return outcome;
  }

  /** Whoever waits for an answer takes nobody's place meanwhile, and nothing more is claimed for that receiver here. */
  private async learnOfWait(
    { laneId, claimedAt }: TimedDelivery,
    report: ReceiverReport | null,
  ): Promise<void> {
    if (report === null || this.slowLanes.wasSeenSince(laneId, claimedAt)) return;
    this.slowLanes.see(laneId);
    try {
      await this.waits.add(report);
    } catch (error) {
      // Its POST shows the same again when it ends.
      this.options.onError(error);
    }
  }

  private learn(reports: readonly ReceiverReport[]): Promise<ReadonlySet<WebhookId>> {
    return this.options.health.learn(reports, this.options.onJudgement);
  }

  /**
   * Records what was learnt of the receivers before the outcomes, so that a receiver that is gone has its deliveries held back before they
   * are due again. While somebody else holds a webhook nothing can be learnt of it, and its outcomes are put off.
   */
  private async record(outcomes: readonly ToldOutcome[]): Promise<Recorded[]> {
    const held = await this.learn(outcomes.flatMap(({ report }) => report ?? []));
    const isHeld = ({ report }: ToldOutcome): boolean => report !== null && held.has(report.webhookId);
    const live = (await this.recordLearnt(outcomes.filter((outcome) => !isHeld(outcome)))).values();
    return outcomes.map((outcome) => (isHeld(outcome) ? 'put off' : live.next().value!));
  }

  private async recordLearnt(outcomes: readonly ToldOutcome[]): Promise<boolean[]> {
    if (outcomes.length === 0) return [];
    const { deliveries } = this.options;
    await deliveries.noteOwnFaults(outcomes.flatMap(({ ownFault }) => ownFault ?? []));
    const live = await deliveries.record(outcomes);
    countAttempts(outcomes);
    for (const { laneId, report } of outcomes) if (report?.isSlow) this.slowLanes.see(laneId);
    return live;
  }
}

function withTime(claimed: readonly ClaimedDelivery[], claimedAt: number): TimedDelivery[] {
  return claimed.map((delivery) => Object.assign(delivery, { claimedAt }));
}

/**
 * What became of a delivery and nothing else: headers and body of an answer are a stranger's words, and what was learnt of its receiver is
 * kept before it and elsewhere. The next POST shows the same again.
 */
function bare(outcome: ToldOutcome): ToldOutcome {
  const { id, claims, laneId, status, retryAfterMs, steps, attempt } = outcome;
  return {
    id,
    claims,
    laneId,
    status,
    retryAfterMs,
    steps,
    attempt: attempt && bareAttempt(attempt),
    report: null,
  };
}

function bareAttempt({ number, durationMs, statusCode, errorClass }: DeliveryAttempt): DeliveryAttempt {
  return { number, durationMs, statusCode, errorClass };
}
