/** What can be in a {@link DenseSet}; only the set changes it. */
export interface DenseSetMember {
  /** Its index in the set that contains it; undefined: no set does. */
  position: number | undefined;
}

/**
 * A set of objects that are added and removed all the time. A `Set` or a `Map` moves to a new table after every few changes, and V8 links the
 * table that it leaves to the new one. Once such a table is in the old generation, all that came after it outlive the young one,
 * with whatever stood in them, until all of the heap is collected. This set leaves nothing behind.
 */
export class DenseSet<Member extends DenseSetMember> {
  private readonly members: Member[] = [];

  get size(): number {
    return this.members.length;
  }

  /** Adds an object that is in no such set yet. */
  add(member: Member): void {
    member.position = this.members.length;
    this.members.push(member);
  }

  /** Removes an object, and moves the last one to its index; says whether it was in the set. */
  delete(member: Member): boolean {
    const { position } = member;
    if (position === undefined || this.members[position] !== member) return false;
    const last = this.members.pop()!;
    if (last !== member) {
      this.members[position] = last;
      last.position = position;
    }
    member.position = undefined;
    return true;
  }

  /** A copy of its members, in no particular order. */
  values(): Member[] {
    return [...this.members];
  }
}
