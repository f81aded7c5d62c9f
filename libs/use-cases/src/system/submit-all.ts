/** Limits memory use, however many are left. */
const MAX_PER_LOOKUP = 100;

interface OwedThings<Thing> {
  /** The next ones, ordered by id; null: from the beginning. */
  readonly readAfter: (after: string | null, limit: number) => Promise<Thing[]>;
  /** @returns whether it was submitted. Never rejects. */
  readonly handOver: (thing: Thing) => Promise<boolean>;
  /** Asked before each; the rest is found by the next run. */
  readonly mayGoOn: () => boolean;
}

/**
 * Submits everything that is owed, in groups: those that fail are kept, and do not block the others.
 *
 * @returns how many were submitted
 */
export async function handOverAll<Thing extends { readonly id: string }>({
  readAfter,
  handOver,
  mayGoOn,
}: OwedThings<Thing>): Promise<number> {
  let [handedOver, after]: [number, string | null] = [0, null];
  for (;;) {
    const owed = await readAfter(after, MAX_PER_LOOKUP);
    for (const thing of owed) {
      if (!mayGoOn()) return handedOver;
      if (await handOver(thing)) handedOver += 1;
    }
    if (owed.length < MAX_PER_LOOKUP) return handedOver;
    after = owed.at(-1)!.id;
  }
}
