import { hasRunOutOfTime } from '../faults/faults.ts';

/** Successes of a size before twice the size is tried; not fewer, because a timeout costs five seconds. */
const SUCCESSES_BEFORE_GROWTH = 8;

/** An adaptive group size: halved after a statement timeout, down to one row, and gradually doubled again. */
export class AdaptiveGroupSize {
  private rows = Number.POSITIVE_INFINITY;
  private successes = 0;

  /**
   * Runs the work with the current number of rows, `max` at most; after a statement timeout again with fewer.
   *
   * @throws what the work throws, other than a timeout with more than one row
   */
  async run<Result>(max: number, work: (rows: number) => Promise<Result>): Promise<Result> {
    for (;;) {
      const rows = Math.min(max, this.rows);
      try {
        const result = await work(rows);
        this.noteSuccess(rows);
        return result;
      } catch (error) {
        if (rows === 1 || !hasRunOutOfTime(error)) throw error;
        this.rows = Math.floor(rows / 2);
        this.successes = 0;
      }
    }
  }

  private noteSuccess(rows: number): void {
    this.successes += 1;
    if (this.successes < SUCCESSES_BEFORE_GROWTH) return;
    this.rows = Math.max(this.rows, rows * 2);
    this.successes = 0;
  }
}
