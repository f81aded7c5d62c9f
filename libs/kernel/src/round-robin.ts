/** A FIFO queue per owner, served round robin: one item of each owner in turn. */
export class RoundRobin<Owner, Item> {
  /** In the order in which owners are served next: one moves to the end when it has been served. No queue is empty. */
  private readonly queues = new Map<Owner, Item[]>();

  /** The number of all items. */
  get size(): number {
    return [...this.queues.values()].reduce((size, { length }) => size + length, 0);
  }

  /** The number of items of an owner. */
  sizeOf(owner: Owner): number {
    return this.queues.get(owner)?.length ?? 0;
  }

  add(owner: Owner, item: Item): void {
    const queue = this.queues.get(owner);
    if (queue === undefined) this.queues.set(owner, [item]);
    else queue.push(item);
  }

  /** Removes and returns the head of the next owner whose head satisfies `may`. */
  next(may: (item: Item) => boolean): Item | undefined {
    for (const [owner, queue] of this.queues) {
      if (!may(queue[0]!)) continue;
      const item = queue.shift()!;
      // The only owner needs no move to the end.
      if (queue.length > 0 && this.queues.size === 1) return item;
      this.queues.delete(owner);
      if (queue.length > 0) this.queues.set(owner, queue);
      return item;
    }
    return undefined;
  }

  /** Whether the head of any owner matches. */
  someHead(matches: (item: Item) => boolean): boolean {
    for (const [head] of this.queues.values()) if (matches(head!)) return true;
    return false;
  }

  /** Removes an item. @returns whether it was there */
  remove(owner: Owner, item: Item): boolean {
    const queue = this.queues.get(owner);
    const index = queue?.indexOf(item) ?? -1;
    if (queue === undefined || index < 0) return false;
    queue.splice(index, 1);
    if (queue.length === 0) this.queues.delete(owner);
    return true;
  }

  /** Removes and returns all items. */
  takeAll(): Item[] {
    const all = [...this.queues.values()].flat();
    this.queues.clear();
    return all;
  }
}
