/** So that no look holds many in memory, however much was left behind. */
const MAX_PER_LOOKUP = 100;

interface OwedThings<Thing> {
  /** The next ones in the order of their ids; null: from the beginning. */
  readonly readAfter: (after: string | null, limit: number) => Promise<Thing[]>;
  /** Whether it could be. Never rejects. */
  readonly handOver: (thing: Thing) => Promise<boolean>;
  /** Asked before each; what is left is found by the next look. */
  readonly mayGoOn: () => boolean;
}

/**
 * Hands over all that is owed, group after group: those that cannot be handed over stay, and must not stand before the others.
 *
 * @returns how many could be
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
