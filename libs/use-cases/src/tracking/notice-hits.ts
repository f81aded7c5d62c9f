import { sleep } from '@posthorn/kernel';
import type { Hit } from '@posthorn/domain';
import { type HitStore, isOutage } from '@posthorn/database';
import { trackingHits } from '@posthorn/platform';

const MAX_PER_GROUP = 500;
/** About 10 MB; more hits than arrive in many seconds. */
const MAX_WAITING = 10_000;
const TRY_AGAIN_MS = 1_000;
/** How long a process that shuts down tries to write its remaining hits. */
const CLOSING_MS = 3_000;

interface NoticeHitsOptions {
  readonly hits: Pick<HitStore, 'record'>;
  /** Called with each failure; hits that can be retried are. */
  readonly onError: (error: unknown) => void;
}

/** A hit was dropped, because too many are waiting for the database. */
class HitForgotten extends Error {
  constructor() {
    super('opens and clicks were dropped, because too many were waiting for the database');
    this.name = 'HitForgotten';
  }
}

/**
 * Records opens and clicks without delaying the requests that cause them. Hits that arrive while a statement runs are written with the next
 * one. During a database outage hits are kept, up to a limit, and then dropped; those still in memory are also lost when the process is
 * killed.
 */
export class NoticeHits {
  private waiting: Hit[] = [];
  private writing: Promise<void> | undefined;
  private closesAtMs = Number.POSITIVE_INFINITY;

  constructor(private readonly options: NoticeHitsOptions) {}

  /** Queues a hit; never fails. */
  note(hit: Hit): void {
    if (this.waiting.length >= MAX_WAITING) {
      count('forgotten', [hit]);
      return this.options.onError(new HitForgotten());
    }
    this.waiting.push(hit);
    this.writing ??= this.write();
  }

  /** Writes the remaining hits, if that takes at most three seconds. */
  async close(): Promise<void> {
    this.closesAtMs = performance.now() + CLOSING_MS;
    await this.writing;
  }

  private async write(): Promise<void> {
    // Hits that arrive in the same turn of the event loop are written together.
    await new Promise((resolve) => setImmediate(resolve));
    let group = this.takeGroup();
    while (group.length > 0 && performance.now() < this.closesAtMs) {
      // A failed group is retried unchanged: this is how one that was counted after all is recognised.
      if (await this.isDone(group)) group = this.takeGroup();
      else await sleep(TRY_AGAIN_MS);
    }
    this.writing = undefined;
  }

  private takeGroup(): Hit[] {
    return this.waiting.splice(0, MAX_PER_GROUP);
  }

  /** Hits that the database refuses are not retried, so that they do not block those that follow. */
  private async isDone(group: readonly Hit[]): Promise<boolean> {
    try {
      await this.options.hits.record(group);
      count('recorded', group);
      return true;
    } catch (error) {
      this.options.onError(error);
      if (isOutage(error)) return false;
      count('refused', group);
      return true;
    }
  }
}

function count(result: 'recorded' | 'forgotten' | 'refused', hits: readonly Hit[]): void {
  for (const { kind } of hits) trackingHits.inc({ kind, result });
}
