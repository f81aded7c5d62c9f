/** How items are grouped; see {@link Coalescer}. */
export interface CoalescerOptions<Item, Result> {
  /** Serves one group; gives one result for each item, in the items' order. */
  readonly serve: (items: Item[]) => Promise<Result[]>;
  /** Maximum total weight of a group. */
  readonly maxItems: number;
  /** The weight of an item; one heavier than `maxItems` forms a group of its own. Default: 1. */
  readonly weightOf?: (item: Item) => number;
  /** Maximum total size of a group; an item that is larger forms a group of its own. Default: no limit. */
  readonly maxBytes?: number;
  /** The size of an item; needed when `maxBytes` is given. */
  readonly bytesOf?: (item: Item) => number;
  /**
   * When more than this weight is in flight, a group takes at most half of it: one half is served while the callers of the other half receive
   * their results and send their next requests. Default: `maxItems`, so nothing is split.
   */
  readonly minSplitWeight?: number;
  /** How many groups may be served concurrently. Default: 1. */
  readonly partitions?: number;
  /** The partition of an item (any whole number ≥ 0, taken modulo `partitions`). No two groups of a partition are served at once. Default: 0. */
  readonly partitionOf?: (item: Item) => number;
  /**
   * Whose item it is. Within a partition owners are served in turn, so that nobody waits for all that somebody else has added before; the items of each
   * are served in order. Default: all items have the same owner.
   */
  readonly ownerOf?: (item: Item) => unknown;
}

interface Waiting<Item, Result> {
  readonly item: Item;
  readonly bytes: number;
  readonly weight: number;
  readonly resolve: (result: Result) => void;
  readonly reject: (reason: unknown) => void;
}

/**
 * Batches concurrent requests so that they share one statement: whatever arrives while a group is being served forms the next group. There is no
 * timer and so no added latency: an item whose partition is idle leaves in the same tick of the event loop, together with whatever else was added
 * in that tick. Nothing is cached between groups.
 */
export class Coalescer<Item, Result> {
  private readonly partitions: Partition<Item, Result>[];

  constructor(private readonly options: CoalescerOptions<Item, Result>) {
    this.partitions = Array.from({ length: options.partitions ?? 1 }, () => new Partition(options));
  }

  /** Resolves with the item's result, or rejects with the error of its whole group. */
  add(item: Item): Promise<Result> {
    const index = (this.options.partitionOf?.(item) ?? 0) % this.partitions.length;
    return this.partitions[index]!.add(item);
  }

  /** How many items are waiting or being served. */
  get pending(): number {
    return this.partitions.reduce((sum, partition) => sum + partition.pending, 0);
  }
}

class Partition<Item, Result> {
  private queue: Waiting<Item, Result>[] = [];
  /** Whose items are in the last group. */
  private served: readonly unknown[] = [];
  private running = false;
  pending = 0;
  /** The total weight of all pending items. */
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

  /** Sends the next group before delivering the results of the last one: the database works on it while this process handles those results. */
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
      // Deferred, because sending the next group may still need several microtasks of this tick.
      setImmediate(giveResults);
    }
  }

  private takeGroup(): Waiting<Item, Result>[] {
    const {
      maxItems,
      maxBytes = Number.POSITIVE_INFINITY,
      minSplitWeight = maxItems,
      ownerOf,
    } = this.options;
    const maxWeight = Math.min(maxItems, Math.max(minSplitWeight, Math.ceil(this.weight / 2)));
    let [count, weight, bytes] = [0, 0, 0];
    const queue = this.inTurns();
    for (const waiting of queue) {
      if (count > 0 && (weight + waiting.weight > maxWeight || bytes + waiting.bytes > maxBytes)) break;
      count += 1;
      weight += waiting.weight;
      bytes += waiting.bytes;
    }
    const group = queue.slice(0, count);
    this.queue = queue.slice(count);
    this.served = ownerOf === undefined ? [] : group.map(({ item }) => ownerOf(item));
    return group;
  }

  /** The queue with one item of each owner after the other, beginning with owners that have none in the last group. */
  private inTurns(): readonly Waiting<Item, Result>[] {
    const { queue, options } = this;
    const { ownerOf } = options;
    if (ownerOf === undefined || isOfOne(queue, ownerOf)) return queue;
    const served = new Set(this.served);
    const nextTurns = new Map<unknown, number>();
    const inTurns = queue.map((waiting) => {
      const owner = ownerOf(waiting.item);
      const turn = nextTurns.get(owner) ?? (served.has(owner) ? 1 : 0);
      nextTurns.set(owner, turn + 1);
      return { turn, waiting };
    });
    return inTurns.sort((one, other) => one.turn - other.turn).map(({ waiting }) => waiting);
  }

  /** Serves a group; resolves with a function that delivers the results to the callers. */
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

/** Whether all that waits is the same owner's, as in most groups. */
function isOfOne<Item>(queue: readonly { readonly item: Item }[], ownerOf: (item: Item) => unknown): boolean {
  return queue.every(({ item }) => ownerOf(item) === ownerOf(queue[0]!.item));
}
