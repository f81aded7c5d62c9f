import type { LaneId } from '@posthorn/domain';
import { RoundRobinLanes } from '@posthorn/queues';

/** Messages of templates that wait for a connection may take so much memory. */
const MAX_BYTES = 64 * 1024 * 1024;
/** So many are made at once: how large one becomes is known when it is made. */
const MAX_BEING_COMPOSED = 16;

interface Waiting {
  readonly laneId: LaneId;
  readonly letIn: () => void;
}

/**
 * The memory of messages whose size nobody knows before: a template of some lines prints megabytes. While those that are made take too much,
 * no other is, but for one of each lane that has none; of those who wait, lane by lane in turn. Whoever sends such templates holds up no others.
 */
export class MessageRoom {
  private readonly heldOf = new Map<LaneId, number>();
  private readonly waiting = new RoundRobinLanes<Waiting>();
  private bytes = 0;
  private inMaking = 0;

  constructor(
    private readonly maxBytes = MAX_BYTES,
    private readonly maxBeingComposed = MAX_BEING_COMPOSED,
  ) {}

  /** Makes a message once there is room, and keeps the room until `use` is done with it. @throws what either throws */
  async hold<Made, Used>(
    laneId: LaneId,
    make: () => Promise<Made>,
    bytesOf: (made: Made) => number,
    use: (made: Made) => Promise<Used>,
  ): Promise<Used> {
    if (!this.hasRoomFor(laneId))
      await new Promise<void>((letIn) => this.waiting.add(laneId, { laneId, letIn }));
    else this.enter(laneId);
    let bytes = 0;
    let isInMaking = true;
    try {
      const made = await make();
      bytes = bytesOf(made);
      this.bytes += bytes;
      this.inMaking -= 1;
      isInMaking = false;
      this.letIn();
      return await use(made);
    } finally {
      this.bytes -= bytes;
      if (isInMaking) this.inMaking -= 1;
      this.leave(laneId);
    }
  }

  private hasRoomFor(laneId: LaneId): boolean {
    return !this.heldOf.has(laneId) || (this.bytes < this.maxBytes && this.inMaking < this.maxBeingComposed);
  }

  private enter(laneId: LaneId): void {
    this.inMaking += 1;
    this.heldOf.set(laneId, (this.heldOf.get(laneId) ?? 0) + 1);
  }

  private leave(laneId: LaneId): void {
    const left = this.heldOf.get(laneId)! - 1;
    if (left > 0) this.heldOf.set(laneId, left);
    else this.heldOf.delete(laneId);
    this.letIn();
  }

  private letIn(): void {
    for (;;) {
      const next = this.waiting.next(({ laneId }) => this.hasRoomFor(laneId));
      if (next === undefined) return;
      this.enter(next.laneId);
      next.letIn();
    }
  }
}
