import type { LaneId } from '@posthorn/domain';
import { RoundRobinLanes } from './round-robin-lanes.ts';

/** A semaphore that is fair between lanes: waiting work is admitted round robin, one item per lane. */
export class LaneGate {
  private readonly waiting = new RoundRobinLanes<() => void>();
  private inside = 0;
  private isOpen = false;

  /** @param max how many may run at once */
  constructor(private readonly max: number) {}

  /** Runs the work once it is admitted. @throws what the work throws */
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

  /** Removes the limit permanently and admits everything that waits: for shutting down, when nothing more is started. */
  open(): void {
    this.isOpen = true;
    const all = this.waiting.takeAll();
    this.inside += all.length;
    for (const letIn of all) letIn();
  }

  /** Admits an item of the next waiting lane. */
  private leave(): void {
    const letIn = this.waiting.next(() => true);
    if (letIn === undefined) this.inside -= 1;
    else letIn();
  }
}
