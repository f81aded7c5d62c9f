import { Coalescer } from '@posthorn/kernel';
import { type LaneId } from '@posthorn/domain';
import { type DeliveryStore, type FannedOut } from '@posthorn/database';
import { type LaneRings } from '@posthorn/queues';

const MOST_LANES_A_STATEMENT = 20;

export interface FanOutEventsOptions {
  readonly deliveries: Pick<DeliveryStore, 'fanOut'>;
  readonly rings: {
    readonly event: Pick<LaneRings, 'ringSlot'>;
    readonly webhook: Pick<LaneRings, 'ring'>;
    readonly slowWebhook: Pick<LaneRings, 'ring'>;
  };
  /** How many events of a lane become deliveries at a time. */
  readonly eventsPerTurn: number;
}

/** Serves the turns of lanes of events: each event becomes one delivery to each webhook that it is for. */
export class FanOutEvents {
  /** One statement for the lanes whose turns start together. What it gives is the same for all of them. */
  private readonly groups: Coalescer<LaneId, FannedOut[]>;

  constructor(private readonly options: FanOutEventsOptions) {
    this.groups = new Coalescer({
      serve: async (laneIds) => {
        const made = await this.fanOut([...new Set(laneIds)]);
        return laneIds.map(() => made);
      },
      maxItems: MOST_LANES_A_STATEMENT,
    });
  }

  /** Serves one turn of a lane. @throws what the database throws: nothing has happened then, and the clock rings again */
  async serve(laneId: LaneId, slot: string): Promise<void> {
    const made = await this.groups.add(laneId);
    if (made.some((one) => one.laneId === laneId && one.hasMore))
      this.options.rings.event.ringSlot(laneId, slot);
  }

  private async fanOut(laneIds: readonly LaneId[]): Promise<FannedOut[]> {
    const { deliveries, eventsPerTurn, rings } = this.options;
    const made = await deliveries.fanOut(laneIds.map((laneId) => ({ laneId, maxRows: eventsPerTurn })));
    for (const { queue, laneId, rows, isSlow } of made) {
      if (queue === 'webhook') (isSlow ? rings.slowWebhook : rings.webhook).ring(laneId, rows);
    }
    return made;
  }
}
