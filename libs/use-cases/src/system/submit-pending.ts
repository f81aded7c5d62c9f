/** Bounds memory use, however many items are pending. */
const MAX_PER_LOOKUP = 100;

interface SubmitPendingOptions {
  /** Settles an item once its mails are durable; idempotent. */
  readonly settle: (id: string) => Promise<void>;
  /** Called with failures to submit items; these stay pending and are retried. */
  readonly onError: (error: unknown) => void;
}

/** Submits what was stored to be mailed, and stays pending until its mails are durable as emails. */
export abstract class SubmitPending<Item extends { readonly id: string }> {
  constructor(private readonly submission: SubmitPendingOptions) {}

  /** The next pending items, ordered by id; null: from the beginning. */
  protected abstract readAfter(after: string | null, limit: number): Promise<Item[]>;

  /** Makes the mails of an item durable, once however often it is called. */
  protected abstract send(item: Item): Promise<void>;

  /** Submits an item that is committed. Never rejects: one that fails stays pending. @returns whether it was submitted */
  async submit(item: Item): Promise<boolean> {
    try {
      await this.send(item);
      await this.submission.settle(item.id);
      return true;
    } catch (error) {
      this.submission.onError(error);
      return false;
    }
  }

  /**
   * Submits all pending items, in groups: those too that were left behind by a process that died. Items that fail do not block the others.
   *
   * @param shouldContinue called before each; the remaining ones are left to the next run
   * @returns how many were submitted
   */
  async submitPending(shouldContinue: () => boolean = () => true): Promise<number> {
    let [submitted, after]: [number, string | null] = [0, null];
    for (;;) {
      const items = await this.readAfter(after, MAX_PER_LOOKUP);
      for (const item of items) {
        if (!shouldContinue()) return submitted;
        if (await this.submit(item)) submitted += 1;
      }
      if (items.length < MAX_PER_LOOKUP) return submitted;
      after = items.at(-1)!.id;
    }
  }
}
