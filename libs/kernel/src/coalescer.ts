/** How items are put together; see {@link Coalescer}. */
export interface CoalescerOptions<Item, Result> {
  /** Serves one group; gives one result for each item, in the items' order. */
  readonly serve: (items: Item[]) => Promise<Result[]>;
  /** At most this many items in a group, each counted as what it weighs. */
  readonly maxItems: number;
  /** As how many an item counts (one that is heavier than a group goes alone). Default: 1. */
  readonly weightOf?: (item: Item) => number;
  /** At most this many bytes in a group (an item that is larger goes alone). Default: no bound. */
  readonly maxBytes?: number;
  /** The size of an item; needed when `maxBytes` is given. */
  readonly bytesOf?: (item: Item) => number;
  /**
   * As many go together undivided; of more a group takes at most half of what is in flight, so that it is served while the results of the other
   * half are given out and what follows on them comes in. Default: all that a group may have.
   */
  readonly undivided?: number;
  /** How many groups may be under way at once. Default: 1. */
  readonly tracks?: number;
  /** Which track an item belongs to (any whole number ≥ 0). Items of one track are served in order. Default: 0. */
  readonly trackOf?: (item: Item) => number;
}

interface Waiting<Item, Result> {
  readonly item: Item;
  readonly bytes: number;
  readonly weight: number;
  readonly resolve: (result: Result) => void;
  readonly reject: (reason: unknown) => void;
}

/**
 * Lets requests that are in flight together share one statement: what arrives while a group is under way forms the
 * next group. No timer and so no added latency: an item that finds its track idle leaves in the same tick of the
 * event loop, together with what else was added in that tick. Nothing is remembered between groups.
 */
export class Coalescer<Item, Result> {
  private readonly tracks: Track<Item, Result>[];

  constructor(private readonly options: CoalescerOptions<Item, Result>) {
    this.tracks = Array.from({ length: options.tracks ?? 1 }, () => new Track(options));
  }

  /** Gives the item's result, or rejects with what its whole group failed with. */
  add(item: Item): Promise<Result> {
    const index = (this.options.trackOf?.(item) ?? 0) % this.tracks.length;
    return this.tracks[index]!.add(item);
  }

  /** Items that wait or are being served. */
  get pending(): number {
    return this.tracks.reduce((sum, track) => sum + track.pending, 0);
  }
}

class Track<Item, Result> {
  private queue: Waiting<Item, Result>[] = [];
  private running = false;
  pending = 0;
  /** What all that is pending weighs. */
  private weight = 0;

  constructor(private readonly options: CoalescerOptions<Item, Result>) {}

  add(item: Item): Promise<Result> {
    const { bytesOf = () => 0, weightOf = () => 1 } = this.options;
    const [bytes, weight] = [bytesOf(item), weightOf(item)];
    this.pending += 1;
    this.weight += weight;
    return new Promise<Result>((resolve, reject) => {
      this.queue.push({ item, bytes, weight, resolve, reject });
      if (!this.running) {
        this.running = true;
        setImmediate(() => void this.drain());
      }
    });
  }

  /**
   * The next group leaves before the results of the last are given out: whoever serves it is at work while this process
   * goes on with those.
   */
  private async drain(): Promise<void> {
    let served = this.serve(this.takeGroup());
    for (;;) {
      const giveResults = await served;
      const next = this.takeGroup();
      if (next.length === 0) {
        this.running = false;
        return giveResults();
      }
      served = this.serve(next);
      // Not now: what sends the next group may need more steps of this tick, which come before it.
      setImmediate(giveResults);
    }
  }

  private takeGroup(): Waiting<Item, Result>[] {
    const { maxItems, maxBytes = Number.POSITIVE_INFINITY, undivided = maxItems } = this.options;
    const maxWeight = Math.min(maxItems, Math.max(undivided, Math.ceil(this.weight / 2)));
    let [count, weight, bytes] = [0, 0, 0];
    for (const waiting of this.queue) {
      if (count > 0 && (weight + waiting.weight > maxWeight || bytes + waiting.bytes > maxBytes)) break;
      count += 1;
      weight += waiting.weight;
      bytes += waiting.bytes;
    }
    const group = this.queue.slice(0, count);
    this.queue = this.queue.slice(count);
    return group;
  }

  /** Serves a group; gives what hands its results to those who wait for them. */
  private async serve(group: readonly Waiting<Item, Result>[]): Promise<() => void> {
    const settle = await this.settle(group);
    return () => {
      this.pending -= group.length;
      this.weight -= group.reduce((sum, { weight }) => sum + weight, 0);
      group.forEach(settle);
    };
  }

  private async settle(
    group: readonly Waiting<Item, Result>[],
  ): Promise<(waiting: Waiting<Item, Result>, index: number) => void> {
    try {
      const results = await this.options.serve(group.map((waiting) => waiting.item));
      if (results.length !== group.length) throw new Error('a group must give one result for each item');
      return (waiting, index) => waiting.resolve(results[index]!);
    } catch (error) {
      return (waiting) => waiting.reject(error);
    }
  }
}
