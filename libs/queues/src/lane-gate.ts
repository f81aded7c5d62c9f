import type { LaneId } from '@posthorn/domain';
import { RoundRobinLanes } from './round-robin-lanes.ts';

/** A semaphore that is fair between lanes: waiting work is admitted round robin, one item per lane. */
export class LaneGate {
  private readonly waiting = new RoundRobinLanes<() => void>();
  private inside = 0;
  private isAdmitting = false;
  private isOpen = false;

  /**
   * @param max how many may run at once
   * @param turn resolves when the next one may be admitted; which one it is, is decided then. Default: always at once
   */
  constructor(
    private readonly max: number,
    private readonly turn: () => Promise<void> = () => Promise.resolve(),
  ) {}

  /** Runs the work once it is admitted. @throws what the work throws */
  async pass<Result>(laneId: LaneId, work: () => Promise<Result>): Promise<Result> {
    if (this.isOpen) return work();
    await new Promise<void>((letIn) => {
      this.waiting.add(laneId, letIn);
      void this.admit();
    });
    try {
      return await work();
    } finally {
      this.inside -= 1;
      void this.admit();
    }
  }

  /** Removes the limit permanently and admits everything that waits: for shutting down, when nothing more is started. */
  open(): void {
    this.isOpen = true;
    for (const letIn of this.waiting.takeAll()) letIn();
  }

  private async admit(): Promise<void> {
    if (this.isAdmitting) return;
    this.isAdmitting = true;
    while (this.inside < this.max && this.waiting.size > 0) {
      await this.turn();
      const letIn = this.waiting.next(() => true);
      // It was opened meanwhile.
      if (letIn === undefined) break;
      this.inside += 1;
      letIn();
    }
    this.isAdmitting = false;
  }
}
