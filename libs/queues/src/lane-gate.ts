import type { LaneId } from '@posthorn/domain';
import { RoundRobin } from '@posthorn/kernel';
import { Permits } from './permits.ts';

interface Waiting {
  readonly laneId: LaneId;
  readonly letIn: () => void;
}

/** A semaphore that is fair between lanes: waiting work is admitted round robin, one item per lane, and no lane takes all places (see `Permits`). */
export class LaneGate {
  private readonly waiting = new RoundRobin<LaneId, Waiting>();
  private readonly places: Permits;
  private isAdmitting = false;
  private isOpen = false;

  /**
   * @param max how many may run at once
   * @param turn resolves when the next one may be admitted; which one it is, is decided then. Default: always at once
   */
  constructor(
    max: number,
    private readonly turn: () => Promise<void> = () => Promise.resolve(),
  ) {
    this.places = new Permits({ concurrency: max });
  }

  /** Runs the work once it is admitted. @throws what the work throws */
  async pass<Result>(laneId: LaneId, work: () => Promise<Result>): Promise<Result> {
    if (this.isOpen) return work();
    await new Promise<void>((letIn) => {
      this.waiting.add(laneId, { laneId, letIn });
      void this.admit();
    });
    try {
      return await work();
    } finally {
      this.places.leave(laneId);
      void this.admit();
    }
  }

  /** Removes the limit permanently and admits everything that waits: for shutting down, when nothing more is started. */
  open(): void {
    this.isOpen = true;
    for (const { letIn } of this.waiting.takeAll()) letIn();
  }

  private async admit(): Promise<void> {
    if (this.isAdmitting) return;
    this.isAdmitting = true;
    while (this.places.free > 0 && this.waiting.someHead(this.mayEnter)) {
      await this.turn();
      const next = this.waiting.next(this.mayEnter);
      // It was opened meanwhile.
      if (next === undefined) break;
      this.places.take(next.laneId);
      next.letIn();
    }
    this.isAdmitting = false;
  }

  private readonly mayEnter = ({ laneId }: Waiting): boolean => this.places.mayTake(laneId);
}
