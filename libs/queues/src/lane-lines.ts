import type { LaneId } from '@posthorn/domain';

/** One line of items a lane, served one item of each lane in turn. */
export class LaneLines<Item> {
  /** In the order in which the lanes are served next: a lane that was served goes to the end. */
  private readonly lines = new Map<LaneId, Item[]>();
  size = 0;

  add(laneId: LaneId, item: Item): void {
    const line = this.lines.get(laneId);
    if (line === undefined) this.lines.set(laneId, [item]);
    else line.push(item);
    this.size += 1;
  }

  /** Takes the first item of the next lane whose first item `may` be taken. */
  next(may: (item: Item) => boolean): Item | undefined {
    for (const [laneId, line] of this.lines) {
      if (!may(line[0]!)) continue;
      const item = line.shift()!;
      this.size -= 1;
      // A lane that is alone stays where it is.
      if (line.length > 0 && this.lines.size === 1) return item;
      this.lines.delete(laneId);
      if (line.length > 0) this.lines.set(laneId, line);
      return item;
    }
    return undefined;
  }

  /** Whether the first item of some lane is so. */
  someFirst(isSo: (item: Item) => boolean): boolean {
    return [...this.lines.values()].some((line) => isSo(line[0]!));
  }

  /** Takes one item out of its line; says whether it was there. */
  remove(laneId: LaneId, item: Item): boolean {
    const line = this.lines.get(laneId);
    const index = line?.indexOf(item) ?? -1;
    if (line === undefined || index < 0) return false;
    line.splice(index, 1);
    if (line.length === 0) this.lines.delete(laneId);
    this.size -= 1;
    return true;
  }

  /** Takes everything. */
  takeAll(): Item[] {
    const all = [...this.lines.values()].flat();
    this.lines.clear();
    this.size = 0;
    return all;
  }
}
