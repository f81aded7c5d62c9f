import type { LaneId } from '@posthorn/domain';

/** A FIFO queue per lane, served round robin: one item of each lane in turn. */
export class RoundRobinLanes<Item> {
  /** In the order in which lanes are served next: a lane moves to the end when it has been served. */
  private readonly queues = new Map<LaneId, Item[]>();

  add(laneId: LaneId, item: Item): void {
    const queue = this.queues.get(laneId);
    if (queue === undefined) this.queues.set(laneId, [item]);
    else queue.push(item);
  }

  /** Removes and returns the head of the next lane whose head satisfies `may`. */
  next(may: (item: Item) => boolean): Item | undefined {
    for (const [laneId, queue] of this.queues) {
      if (!may(queue[0]!)) continue;
      const item = queue.shift()!;
      // The only lane needs no move to the end.
      if (queue.length > 0 && this.queues.size === 1) return item;
      this.queues.delete(laneId);
      if (queue.length > 0) this.queues.set(laneId, queue);
      return item;
    }
    return undefined;
  }

  /** Whether the head of any lane matches. */
  someHead(matches: (item: Item) => boolean): boolean {
    for (const [head] of this.queues.values()) if (matches(head!)) return true;
    return false;
  }

  /** Removes an item. @returns whether it was there */
  remove(laneId: LaneId, item: Item): boolean {
    const queue = this.queues.get(laneId);
    const index = queue?.indexOf(item) ?? -1;
    if (queue === undefined || index < 0) return false;
    queue.splice(index, 1);
    if (queue.length === 0) this.queues.delete(laneId);
    return true;
  }

  /** Removes and returns all items. */
  takeAll(): Item[] {
    const all = [...this.queues.values()].flat();
    this.queues.clear();
    return all;
  }
}
