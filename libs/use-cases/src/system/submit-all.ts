/** Bounds memory use, however many items are pending. */
const MAX_PER_LOOKUP = 100;

interface PendingItems<Item> {
  /** The next items, ordered by id; null: from the beginning. */
  readonly readAfter: (after: string | null, limit: number) => Promise<Item[]>;
  /** @returns whether it was submitted. Never rejects. */
  readonly submit: (item: Item) => Promise<boolean>;
  /** Called before each item; the remaining ones are left to the next run. */
  readonly shouldContinue: () => boolean;
}

/**
 * Submits all pending items, in groups. Items that fail stay pending, and do not block the others.
 *
 * @returns how many were submitted
 */
export async function submitAll<Item extends { readonly id: string }>({
  readAfter,
  submit,
  shouldContinue,
}: PendingItems<Item>): Promise<number> {
  let [submitted, after]: [number, string | null] = [0, null];
  for (;;) {
    const items = await readAfter(after, MAX_PER_LOOKUP);
    for (const item of items) {
      if (!shouldContinue()) return submitted;
      if (await submit(item)) submitted += 1;
    }
    if (items.length < MAX_PER_LOOKUP) return submitted;
    after = items.at(-1)!.id;
  }
}
