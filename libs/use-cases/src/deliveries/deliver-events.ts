import { Coalescer, type WebhookId } from '@posthorn/kernel';
import type { LaneId } from '@posthorn/domain';
import type {
  ClaimedDelivery,
  DeliveryAttempt,
  DeliveryStore,
  NewWebhookNotice,
  OutboxStore,
  ReceiverHealthStore,
  ReceiverReport,
} from '@posthorn/database';
import type { LaneRings } from '@posthorn/queues';
import { OutcomeRecorder } from '../lanes/outcome-recorder.ts';
import { type LaneTimes, ServeLanes } from '../lanes/serve-lanes.ts';
import type { SpareCapacity } from '../lanes/spare-capacity.ts';
import { countAttempts } from './count-attempts.ts';
import type { DeliverEvent } from './deliver-event.ts';
import type { OutcomeWithReport } from './outcome-of-post.ts';
import { SlowLanes } from './slow-lanes.ts';

/** Enough to keep all connections busy while the next claim is under way. */
const ROWS_IN_HAND_PER_CONNECTION = 6;
/** Bounds how many deliveries a killed process may have posted without recording them: those under way, and as many again. */
const ROWS_UNRECORDED_PER_CONNECTION = 2;
const MAX_BYTES_IN_HAND = 32 * 1024 * 1024;
/** The share of the connections that one webhook may use: a hanging receiver occupies them until it is found to be slow. */
const MAX_SHARE_PER_LANE = 1 / 4;
const MAX_REPORTS_PER_GROUP = 100;

type Rings = Pick<LaneRings, 'ringAll' | 'ringSlot'>;

interface DeliverEventsOptions extends LaneTimes {
  readonly outbox: OutboxStore;
  readonly deliveries: DeliveryStore;
  readonly health: Pick<ReceiverHealthStore, 'applyReports'>;
  readonly delivery: Pick<DeliverEvent, 'deliver'>;
  readonly rings: { readonly webhook: Rings; readonly slowWebhook: Rings };
  /** Concurrent POSTs to receivers that are not slow. */
  readonly connections: number;
  /** Concurrent POSTs to slow receivers. */
  readonly slowConnections: number;
  /** Called with each new notice about a webhook that its workspace will get. */
  readonly onNotice: (newNotice: NewWebhookNotice) => void;
  readonly onError: (error: unknown) => void;
}

/**
 * Serves the turns of webhook lanes: claim, sign, post, decide, record. Slow receivers have connections of their own, so that even a thousand of them do
 * not delay the others.
 */
export class DeliverEvents {
  private readonly slowLanes = new SlowLanes();
  /** Groups the reports on receivers that turn out to be slow while a POST is under way. */
  private readonly slowReports = new Coalescer<ReceiverReport, undefined>({
    serve: async (reports) => {
      await this.applyReports(reports);
      return reports.map(() => undefined);
    },
    maxItems: MAX_REPORTS_PER_GROUP,
  });
  private readonly fast: ServeLanes<ClaimedDelivery, OutcomeWithReport>;
  private readonly slow: ServeLanes<ClaimedDelivery, OutcomeWithReport>;

  constructor(private readonly options: DeliverEventsOptions) {
    const { connections, slowConnections, deliveries, leaseMs, rings, onError } = options;
    const recorder = new OutcomeRecorder<OutcomeWithReport>({
      record: (outcomes) => this.record(outcomes),
      withoutDetail,
      onError,
    });
    const shared = { ...options, recorder, maxBytes: MAX_BYTES_IN_HAND };
    this.fast = new ServeLanes({
      ...shared,
      rings: rings.webhook,
      concurrency: connections,
      maxRows: connections * ROWS_IN_HAND_PER_CONNECTION,
      maxUnrecorded: connections * ROWS_UNRECORDED_PER_CONNECTION,
      // While somebody else holds the lock of a webhook, its outcomes are deferred.
      maxUnrecordedPerLane: connections,
      maxPermitsPerLane: Math.max(1, Math.ceil(connections * MAX_SHARE_PER_LANE)),
      maxTimesFree: 1,
      claim: (demands, maxBytes) => deliveries.claim(demands, maxBytes, leaseMs, false),
      work: (...one) => this.deliverUnlessSlow(...one),
    });
    this.slow = new ServeLanes({
      ...shared,
      rings: rings.slowWebhook,
      concurrency: slowConnections,
      maxRows: slowConnections * ROWS_IN_HAND_PER_CONNECTION,
      maxUnrecorded: slowConnections * ROWS_UNRECORDED_PER_CONNECTION,
      maxRowsOf: (laneId) => this.slowLanes.maxRowsOf(laneId),
      minRowsForNewLane: 0,
      claim: (demands, maxBytes) => deliveries.claim(demands, maxBytes, leaseMs, true),
      work: (delivery, mayStillBegin) => this.deliverToSlow(delivery, mayStillBegin),
    });
  }

  /** Serves one turn of a webhook's lane. */
  serve(laneId: LaneId, slot: string): Promise<void> {
    return this.fast.serve(laneId, slot);
  }

  /** Serves one turn of the lane of a slow receiver. */
  serveSlow(laneId: LaneId, slot: string): Promise<void> {
    return this.slow.serve(laneId, slot);
  }

  /** For new deliveries, which can be posted at once, without a turn of their lane. */
  get spareCapacity(): SpareCapacity<ClaimedDelivery> {
    return this.fast.spareCapacity;
  }

  /** Starts nothing more, gives back deliveries that were not started, and resolves when the others are recorded. */
  async drain(): Promise<void> {
    await Promise.all([this.fast.drain(), this.slow.drain()]);
  }

  /** A delivery that was claimed before its receiver turned out to be slow is given back, so that the slow queue serves it. */
  private async deliverUnlessSlow(
    delivery: ClaimedDelivery,
    mayStillBegin: () => boolean,
    releasePermitEarly: () => void,
  ): Promise<OutcomeWithReport | undefined> {
    if (this.slowLanes.wasMarkedSince(delivery.laneId, delivery.askedAtMs)) return undefined;
    let reporting: Promise<void> | undefined;
    const outcome = await this.options.delivery.deliver(delivery, mayStillBegin, (report) => {
      // Marked before the permit is released, because that starts the next delivery at once, maybe of the same webhook.
      reporting = this.reportSlowness(delivery, report);
      releasePermitEarly();
    });
    await reporting;
    if (outcome?.responsiveness?.kind === 'throttled') {
      this.slowLanes.note(delivery.laneId, outcome.responsiveness);
      await this.reportSlowness(delivery, outcome.report);
    }
    return outcome;
  }

  /** Remembers what this shows of the receiver. While that is throttled it stays slow, however quickly it answers. */
  private async deliverToSlow(
    delivery: ClaimedDelivery,
    mayStillBegin: () => boolean,
  ): Promise<OutcomeWithReport | undefined> {
    const outcome = await this.options.delivery.deliver(delivery, mayStillBegin);
    if (outcome === undefined || outcome.responsiveness === null) return outcome;
    const { report, responsiveness } = outcome;
    this.slowLanes.note(delivery.laneId, responsiveness);
    return report !== null && this.slowLanes.isThrottled(delivery.laneId)
      ? { ...outcome, report: { ...report, isSlow: true } }
      : outcome;
  }

  /** Marks the receiver as slow, so that no more is posted to it here, and reports that. */
  private async reportSlowness(
    { laneId, askedAtMs }: ClaimedDelivery,
    report: ReceiverReport | null,
  ): Promise<void> {
    if (report === null || this.slowLanes.wasMarkedSince(laneId, askedAtMs)) return;
    this.slowLanes.mark(laneId);
    try {
      await this.slowReports.add(report);
    } catch (error) {
      // The end of the POST will report the same again.
      this.options.onError(error);
    }
  }

  private applyReports(reports: readonly ReceiverReport[]): Promise<ReadonlySet<WebhookId>> {
    return this.options.health.applyReports(reports, this.options.onNotice);
  }

  /**
   * Applies the reports on receivers before recording outcomes, so that the deliveries of a receiver that is gone are put on hold before they are due again.
   * While somebody else holds the lock of a webhook its reports cannot be applied, so its outcomes are deferred.
   */
  private async record(outcomes: readonly OutcomeWithReport[]): Promise<Set<OutcomeWithReport>> {
    const lockedElsewhere = await this.applyReports(outcomes.flatMap(({ report }) => report ?? []));
    const isLocked = ({ report }: OutcomeWithReport): boolean =>
      report !== null && lockedElsewhere.has(report.webhookId);
    const deferred = new Set(outcomes.filter(isLocked));
    await this.recordOutcomes(outcomes.filter((outcome) => !deferred.has(outcome)));
    return deferred;
  }

  private async recordOutcomes(outcomes: readonly OutcomeWithReport[]): Promise<void> {
    if (outcomes.length === 0) return;
    const { deliveries } = this.options;
    await deliveries.recordOwnFaults(outcomes.flatMap(({ ownFault }) => ownFault ?? []));
    await deliveries.record(outcomes);
    countAttempts(outcomes);
  }
}

/**
 * Without what the database might reject: headers and body of the response, which a stranger wrote, and the report on the receiver, which the next POST will
 * give again.
 */
function withoutDetail({ ownFault: _ours, attempt, ...outcome }: OutcomeWithReport): OutcomeWithReport {
  return { ...outcome, attempt: attempt && attemptWithoutDetail(attempt), report: null };
}

function attemptWithoutDetail(attempt: DeliveryAttempt): DeliveryAttempt {
  const { number, durationMs, statusCode, errorClass } = attempt;
  return { number, durationMs, statusCode, errorClass };
}
