import { hasRunOutOfTime } from './faults.ts';

/** This many groups of a size must succeed before twice the size is tried: one that runs out of time costs five seconds. */
const SUCCESSES_BEFORE_GROWTH = 8;

/** How many rows are dealt with together: half as many after a statement that ran out of time, down to one, and gradually more again. */
export class AdaptiveGroupSize {
  private rows = Number.POSITIVE_INFINITY;
  private successes = 0;

  /**
   * Does the work with as many rows as it can; work that ran out of time is done again with fewer.
   *
   * @throws what the work throws, unless fewer rows may take less time
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
