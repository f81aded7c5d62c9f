/** What can be in a {@link DenseSet}; only the set changes it. */
export interface DenseSetMember {
  /** Its index in the set that contains it; undefined while it is in none. */
  position: number | undefined;
}

/**
 * A set for objects that are added and removed constantly. A `Set` or `Map` rehashes into a new table after every few changes, and V8 links each
 * old table to its successor. Once one old table has reached the old generation, all its successors, with everything in them, survive until the next
 * full garbage collection. This set produces no such garbage.
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

  /** Removes an object and moves the last one to its index. @returns whether it was in the set */
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
