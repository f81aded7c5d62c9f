import { sleep } from '@posthorn/kernel';
import type { Hit } from '@posthorn/domain';
import { faultOf, type HitStore, isOutage } from '@posthorn/database';
import { trackingHits } from '@posthorn/platform';

const MAX_PER_GROUP = 500;
/** About 10 MB; more than come in many seconds. */
const MAX_WAITING = 10_000;
const TRY_AGAIN_MS = 1_000;
/** How long a process that ends tries to write what it has. */
const CLOSING_MS = 3_000;

interface NoticeHitsOptions {
  readonly hits: Pick<HitStore, 'record'>;
  /** Told of what failed; what can be tried again is. */
  readonly onError: (error: unknown) => void;
}

/** A hit was forgotten, because too many wait for the database. */
class HitForgotten extends Error {
  constructor() {
    super('opens and clicks are forgotten, because more wait for the database than may');
    this.name = 'HitForgotten';
  }
}

/**
 * Notices opens and clicks: who causes one waits for nothing. What comes while a statement runs goes with the next one. While the database is
 * away hits are kept, up to a bound, and then forgotten; so are those that a process has when it is killed.
 */
export class NoticeHits {
  private waiting: Hit[] = [];
  private writing: Promise<void> | undefined;
  private closesAtMs = Number.POSITIVE_INFINITY;

  constructor(private readonly options: NoticeHitsOptions) {}

  /** Takes note of a hit; never fails. */
  note(hit: Hit): void {
    if (this.waiting.length >= MAX_WAITING) {
      count('forgotten', [hit]);
      return this.options.onError(new HitForgotten());
    }
    this.waiting.push(hit);
    this.writing ??= this.write();
  }

  /** Writes what is left, if that can be done in three seconds. */
  async close(): Promise<void> {
    this.closesAtMs = performance.now() + CLOSING_MS;
    await this.writing;
  }

  private async write(): Promise<void> {
    // What comes in the same turn of the event loop goes together.
    await new Promise((resolve) => setImmediate(resolve));
    let group = this.takeGroup();
    while (group.length > 0 && performance.now() < this.closesAtMs) {
      // What failed is tried again as it was: by that it is known whether it was counted after all.
      if (await this.isDone(group)) group = this.takeGroup();
      else await sleep(TRY_AGAIN_MS);
    }
    this.writing = undefined;
  }

  private takeGroup(): Hit[] {
    return this.waiting.splice(0, MAX_PER_GROUP);
  }

  /** What the database refuses is not tried again: nothing may stand in the way of what comes after it. */
  private async isDone(group: readonly Hit[]): Promise<boolean> {
    try {
      await this.options.hits.record(group);
      count('recorded', group);
      return true;
    } catch (error) {
      this.options.onError(error);
      if (isOutage(error) || faultOf(error) === 'conflict') return false;
      count('refused', group);
      return true;
    }
  }
}

function count(result: 'recorded' | 'forgotten' | 'refused', hits: readonly Hit[]): void {
  for (const { kind } of hits) trackingHits.inc({ kind, result });
}
