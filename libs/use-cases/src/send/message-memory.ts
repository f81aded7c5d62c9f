import type { LaneId } from '@posthorn/domain';
import { LaneCounts, RoundRobinLanes } from '@posthorn/queues';

/** Memory for composed messages of templates that wait for a connection. */
const MAX_BYTES = 64 * 1024 * 1024;
/** Concurrent compositions; the size of a message is known only afterwards. */
const MAX_CONCURRENT_COMPOSITIONS = 16;

interface Waiting {
  readonly laneId: LaneId;
  readonly letIn: () => void;
}

/**
 * Limits the memory of composed messages whose size is not known in advance: a template of a few lines may print megabytes. While the limit is exceeded,
 * nothing more is composed, except one message for each lane that has none; waiting lanes are served round robin. So a lane with huge messages does not
 * block the others.
 */
export class MessageMemory {
  private readonly messages = new LaneCounts();
  private readonly waiting = new RoundRobinLanes<Waiting>();
  private bytes = 0;
  private composing = 0;

  constructor(
    private readonly maxBytes = MAX_BYTES,
    private readonly maxComposing = MAX_CONCURRENT_COMPOSITIONS,
  ) {}

  /** Composes a message once there is memory for it, which is held until `use` is done. @throws what either throws */
  async hold<Composed, Used>(
    laneId: LaneId,
    compose: () => Promise<Composed>,
    bytesOf: (message: Composed) => number,
    use: (message: Composed) => Promise<Used>,
  ): Promise<Used> {
    if (!this.mayCompose(laneId))
      await new Promise<void>((letIn) => this.waiting.add(laneId, { laneId, letIn }));
    else this.enter(laneId);
    let bytes = 0;
    let isComposing = true;
    try {
      const message = await compose();
      bytes = bytesOf(message);
      this.bytes += bytes;
      this.composing -= 1;
      isComposing = false;
      this.letIn();
      return await use(message);
    } finally {
      this.bytes -= bytes;
      if (isComposing) this.composing -= 1;
      this.leave(laneId);
    }
  }

  private mayCompose(laneId: LaneId): boolean {
    return (
      this.messages.of(laneId) === 0 || (this.bytes < this.maxBytes && this.composing < this.maxComposing)
    );
  }

  private enter(laneId: LaneId): void {
    this.composing += 1;
    this.messages.add(laneId);
  }

  private leave(laneId: LaneId): void {
    this.messages.remove(laneId);
    this.letIn();
  }

  private letIn(): void {
    for (;;) {
      const next = this.waiting.next(({ laneId }) => this.mayCompose(laneId));
      if (next === undefined) return;
      this.enter(next.laneId);
      next.letIn();
    }
  }
}
