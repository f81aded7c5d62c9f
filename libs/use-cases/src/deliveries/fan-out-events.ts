import { BoundedMap, Coalescer } from '@posthorn/kernel';
import type { LaneId } from '@posthorn/domain';
import type { ClaimedDelivery, DeliveryStore, FannedOut } from '@posthorn/database';
import type { LaneRings } from '@posthorn/queues';
import type { SpareCapacity } from '../lanes/spare-capacity.ts';

const MAX_LANES_PER_STATEMENT = 20;
/** A backlog is fanned out in up to this many groups per turn. A turn per group would cost a tenth of what its deliveries cost; more groups would make other lanes wait too long. */
const MAX_GROUPS_PER_TURN = 4;
/** Size of the cache of lanes with a backlog. An evicted lane is merely treated as one without, as when its next turn runs in another process. */
const MAX_LANES_BEHIND = 1_000;
/** Even without capacity here, at least this share of a turn's events is fanned out: other processes may have capacity. */
const MIN_SHARE_OF_TURN = 1 / 4;

/** A turn of an event lane. */
interface EventTurn {
  readonly laneId: LaneId;
  /** Whether the lane had more events than its last group took, so that it has waited for capacity. */
  readonly isBehind: boolean;
}

interface FanOutEventsOptions {
  readonly deliveries: Pick<DeliveryStore, 'fanOut'>;
  /** That of this process for posting new deliveries at once. */
  readonly spareCapacity: Pick<SpareCapacity<ClaimedDelivery>, 'fill' | 'waitForCapacityFor'>;
  readonly rings: {
    readonly event: Pick<LaneRings, 'ringSlot'>;
    readonly webhook: Pick<LaneRings, 'ring'>;
  };
  /** Maximum events of a lane per group; a turn has up to {@link MAX_GROUPS_PER_TURN} groups. */
  readonly eventsPerTurn: number;
  /** How long a turn waits for capacity at most. */
  readonly handoverMs: number;
  readonly leaseMs: number;
}

/**
 * Serves the turns of event lanes: fans each event out into one delivery for each webhook that is subscribed to it. Deliveries for which this process has
 * capacity are claimed in the same statement, which saves a turn of their lane; the lanes of the others are rung.
 */
export class FanOutEvents {
  /** One statement for all lanes whose turns start together; its result is shared by all of them. */
  private readonly groups: Coalescer<EventTurn, FannedOut>;
  /** Lanes with a backlog. Their events have waited already, so they may also wait for capacity. */
  private readonly lanesBehind = new BoundedMap<LaneId, true>(MAX_LANES_BEHIND);
  /** As observed in the last group. */
  private deliveriesPerEvent = 1;

  constructor(private readonly options: FanOutEventsOptions) {
    this.groups = new Coalescer({
      serve: async (turns) => {
        const made = await this.fanOut([...new Map(turns.map((turn) => [turn.laneId, turn])).values()]);
        return turns.map(() => made);
      },
      maxItems: MAX_LANES_PER_STATEMENT,
    });
  }

  /** Serves one turn of a lane. @throws what the database throws; nothing has been changed then, and the clock rings again */
  async serve(laneId: LaneId, slot: string): Promise<void> {
    const { spareCapacity, eventsPerTurn, handoverMs, rings } = this.options;
    let isBehind = this.lanesBehind.delete(laneId);
    for (let groups = 0; groups < MAX_GROUPS_PER_TURN; groups += 1) {
      if (isBehind)
        await spareCapacity.waitForCapacityFor(eventsPerTurn * this.deliveriesPerEvent, handoverMs);
      const { lanes } = await this.groups.add({ laneId, isBehind });
      isBehind = lanes.some((one) => one.laneId === laneId && one.hasMore);
      if (!isBehind) return;
    }
    this.lanesBehind.set(laneId, true);
    rings.event.ringSlot(laneId, slot);
  }

  private async fanOut(turns: readonly EventTurn[]): Promise<FannedOut> {
    const { deliveries, spareCapacity, eventsPerTurn, leaseMs } = this.options;
    const wanted = Math.ceil(turns.length * eventsPerTurn * this.deliveriesPerEvent);
    const made = await spareCapacity.fill(wanted, (capacity) => {
      const backlog = this.eventsFor(capacity.rows / turns.length);
      const demands = turns.map(({ laneId, isBehind }) => ({
        laneId,
        maxRows: isBehind ? backlog : eventsPerTurn,
      }));
      return deliveries.fanOut(demands, capacity, leaseMs);
    });
    this.ring(made);
    this.observeRatio(made);
    return made;
  }

  /** How many events of a backlog to fan out, given capacity for this many deliveries: deliveries that are claimed later cost turns of their own. */
  private eventsFor(rows: number): number {
    const { eventsPerTurn } = this.options;
    const min = Math.ceil(eventsPerTurn * MIN_SHARE_OF_TURN);
    return Math.min(eventsPerTurn, Math.max(min, Math.floor(rows / this.deliveriesPerEvent)));
  }

  private ring({ ready }: FannedOut): void {
    // The clock rings slow lanes within a second, which is short compared with what their receivers take.
    for (const { laneId, deliveries, isSlow } of ready)
      if (!isSlow) this.options.rings.webhook.ring(laneId, deliveries);
  }

  private observeRatio({ lanes, made }: FannedOut): void {
    const events = lanes.reduce((sum, lane) => sum + lane.events, 0);
    if (events > 0) this.deliveriesPerEvent = Math.max(1, made / events);
  }
}
