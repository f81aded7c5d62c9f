import { BoundedMap, Coalescer } from '@posthorn/kernel';
import type { LaneId } from '@posthorn/domain';
import type { DeliveryStore, FannedOut } from '@posthorn/database';
import type { LaneRings } from '@posthorn/queues';
import type { DeliverEvents } from './deliver-events.ts';

const MAX_LANES_PER_STATEMENT = 20;
/** A backlog becomes deliveries so many groups a turn: a job for each costs Redis and this process a tenth of what its deliveries cost, and other lanes wait no longer than for these. */
const MAX_GROUPS_PER_TURN = 4;
/** Of more lanes it is not remembered that they are behind: the next turn of one that was served here may be another process's. */
const MAX_LANES_BEHIND = 1_000;
/** However little room there is, this share of a turn's events becomes deliveries: other processes may have room for them. */
const MIN_SHARE_OF_TURN = 1 / 4;

/** A turn of a lane of events. */
interface EventTurn {
  readonly laneId: LaneId;
  /** Whether more was there the last time, and it has waited for room. */
  readonly isBehind: boolean;
}

interface FanOutEventsOptions {
  readonly deliveries: Pick<DeliveryStore, 'fanOut'>;
  /** Who posts what is made, as far as there is room. */
  readonly poster: Pick<DeliverEvents, 'takeUp' | 'waitForCapacityFor'>;
  readonly rings: {
    readonly event: Pick<LaneRings, 'ringSlot'>;
    readonly webhook: Pick<LaneRings, 'ring'>;
  };
  /** How many events of a lane become deliveries at a time; a turn has a few such times. */
  readonly eventsPerTurn: number;
  /** How long a turn waits for room at most. */
  readonly handoverMs: number;
  readonly leaseMs: number;
}

/**
 * Serves the turns of lanes of events: each event becomes one delivery to each webhook that it is for. What this process has room for is
 * claimed as it is made, which spares it a turn of its own; the lanes of the rest are rung.
 */
export class FanOutEvents {
  /** One statement for the lanes whose turns start together. What it gives is the same for all of them. */
  private readonly groups: Coalescer<EventTurn, FannedOut>;
  /** Lanes that have more events than were taken of them: they have waited already, so that they may wait for room. */
  private readonly behind = new BoundedMap<LaneId, true>(MAX_LANES_BEHIND);
  /** As it was the last time. */
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

  /** Serves one turn of a lane. @throws what the database throws: nothing has happened then, and the clock rings again */
  async serve(laneId: LaneId, slot: string): Promise<void> {
    const { poster, eventsPerTurn, handoverMs, rings } = this.options;
    let isBehind = this.behind.delete(laneId);
    for (let groups = 0; groups < MAX_GROUPS_PER_TURN; groups += 1) {
      if (isBehind) await poster.waitForCapacityFor(eventsPerTurn * this.deliveriesPerEvent, handoverMs);
      const { lanes } = await this.groups.add({ laneId, isBehind });
      isBehind = lanes.some((one) => one.laneId === laneId && one.hasMore);
      if (!isBehind) return;
    }
    this.behind.set(laneId, true);
    rings.event.ringSlot(laneId, slot);
  }

  private async fanOut(turns: readonly EventTurn[]): Promise<FannedOut> {
    const { deliveries, poster, eventsPerTurn, leaseMs } = this.options;
    const wanted = Math.ceil(turns.length * eventsPerTurn * this.deliveriesPerEvent);
    let made: FannedOut = { lanes: [], made: 0, claimed: [] };
    await poster.takeUp(wanted, async (capacity) => {
      const backlog = this.eventsFor(capacity.rows / turns.length);
      const demands = turns.map(({ laneId, isBehind }) => ({
        laneId,
        maxRows: isBehind ? backlog : eventsPerTurn,
      }));
      made = await deliveries.fanOut(demands, capacity, leaseMs);
      return made.claimed;
    });
    this.ring(made);
    return made;
  }

  /** How many events of a backlog become deliveries when there is room for so many: each that has to be claimed later costs a turn. */
  private eventsFor(rows: number): number {
    const { eventsPerTurn } = this.options;
    const min = Math.ceil(eventsPerTurn * MIN_SHARE_OF_TURN);
    return Math.min(eventsPerTurn, Math.max(min, Math.floor(rows / this.deliveriesPerEvent)));
  }

  private ring({ lanes, made }: FannedOut): void {
    const { rings } = this.options;
    let events = 0;
    for (const { queue, laneId, rows, isSlow } of lanes) {
      if (queue === 'event') events += rows;
      // The clock rings a slow one within a second, which is little beside what its receiver takes.
      else if (!isSlow) rings.webhook.ring(laneId, rows);
    }
    if (events > 0) this.deliveriesPerEvent = Math.max(1, made / events);
  }
}
