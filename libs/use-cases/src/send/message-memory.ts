import type { LaneId } from '@posthorn/domain';
import { Counts, RoundRobin } from '@posthorn/kernel';

/** Memory for composed messages of templates that wait for a connection. */
const MAX_BYTES = 64 * 1024 * 1024;
/** Concurrent compositions; the size of a message is known only afterwards. */
const MAX_CONCURRENT_COMPOSITIONS = 16;
/** The share of the memory below which a lane is never limited by the others. */
const LIGHT_SHARE = 1 / 64;

interface Waiting {
  readonly laneId: LaneId;
  readonly letIn: () => void;
}

/**
 * Limits the memory of composed messages whose size is not known in advance: a template of a few lines may print megabytes. While the limit is exceeded,
 * nothing more is composed, except for lanes whose messages take little, one at a time; waiting lanes are served round robin. So a lane with huge messages, or
 * with templates that take seconds, does not block the others.
 */
export class MessageMemory {
  private readonly bytesOf = new Counts<LaneId>();
  private readonly composingOf = new Counts<LaneId>();
  private readonly waiting = new RoundRobin<LaneId, Waiting>();
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
    if (this.mayCompose(laneId)) this.beginComposing(laneId);
    else await new Promise<void>((letIn) => this.waiting.add(laneId, { laneId, letIn }));
    let message: Composed;
    let bytes: number;
    try {
      message = await compose();
      bytes = bytesOf(message);
      this.bytes += bytes;
      this.bytesOf.add(laneId, bytes);
    } finally {
      this.endComposing(laneId);
    }
    try {
      return await use(message);
    } finally {
      this.release(laneId, bytes);
    }
  }

  private mayCompose(laneId: LaneId): boolean {
    return this.isLight(laneId) || (this.bytes < this.maxBytes && this.composing < this.maxComposing);
  }

  private isLight(laneId: LaneId): boolean {
    return this.composingOf.of(laneId) === 0 && this.bytesOf.of(laneId) < this.maxBytes * LIGHT_SHARE;
  }

  private beginComposing(laneId: LaneId): void {
    this.composing += 1;
    this.composingOf.add(laneId);
  }

  private endComposing(laneId: LaneId): void {
    this.composing -= 1;
    this.composingOf.remove(laneId);
    this.letIn();
  }

  private release(laneId: LaneId, bytes: number): void {
    this.bytes -= bytes;
    this.bytesOf.remove(laneId, bytes);
    this.letIn();
  }

  private letIn(): void {
    for (;;) {
      const next = this.waiting.next(({ laneId }) => this.mayCompose(laneId));
      if (next === undefined) return;
      this.beginComposing(next.laneId);
      next.letIn();
    }
  }
}
