import { sleep } from '@posthorn/kernel';
import type { ErasureStore } from '@posthorn/database';

/** Erases the persons that workspaces have asked to be erased. Safe to interrupt, to run twice, and to run concurrently. */
export class ServeErasures {
  constructor(private readonly erasures: Pick<ErasureStore, 'eraseGroup'>) {}

  /**
   * Goes on with the erasures, in groups; after each group it pauses for as long as that took.
   *
   * @param ms no group is started after this time
   * @returns how many rows were searched
   */
  async runWithin(ms: number): Promise<number> {
    let searched = 0;
    const begunAt = performance.now();
    while (performance.now() - begunAt < ms) {
      const groupAt = performance.now();
      const rows = await this.erasures.eraseGroup();
      if (rows === undefined) break;
      searched += rows;
      await sleep(performance.now() - groupAt);
    }
    return searched;
  }
}
