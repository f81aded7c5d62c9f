import type { LaneId } from '@posthorn/domain';
import { LaneLines } from './lane-lines.ts';

/** Lets a fixed number through at once; those who wait are let in lane by lane in turn. */
export class LaneGate {
  private readonly waiting = new LaneLines<() => void>();
  private inside = 0;
  private isOpen = false;

  /** @param max how many may be inside at once */
  constructor(private readonly max: number) {}

  /** Does the work once it is let in. @throws what the work throws */
  async pass<Result>(laneId: LaneId, work: () => Promise<Result>): Promise<Result> {
    if (this.inside >= this.max && !this.isOpen)
      await new Promise<void>((letIn) => this.waiting.add(laneId, letIn));
    else this.inside += 1;
    try {
      return await work();
    } finally {
      this.leave();
    }
  }

  /** Lets in everybody who waits or will come, for a process that is stopping and begins nothing more. */
  open(): void {
    this.isOpen = true;
    const all = this.waiting.takeAll();
    this.inside += all.length;
    for (const letIn of all) letIn();
  }

  /** The place goes to the next lane that waits. */
  private leave(): void {
    const letIn = this.waiting.next(() => true);
    if (letIn === undefined) this.inside -= 1;
    else letIn();
  }
}
