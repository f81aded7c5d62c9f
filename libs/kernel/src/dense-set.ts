/** What can be in a {@link DenseSet}; only the set changes it. */
export interface DenseSetMember {
  /** Where it stands in the set that it is in, counted from 0; undefined: it is in none. */
  position: number | undefined;
}

/**
 * A set of objects of which some come and others go all the time. A `Set` or a `Map` moves to a new table after every few changes, and V8 links the
 * table that it leaves to the new one. Once such a table is in the old generation, all that came after it outlive the young one,
 * with whatever stood in them, until all of the heap is collected. Here nothing is left behind.
 */
export class DenseSet<Member extends DenseSetMember> {
  private readonly members: Member[] = [];

  get size(): number {
    return this.members.length;
  }

  /** Takes in an object that is in no such set. */
  add(member: Member): void {
    member.position = this.members.length;
    this.members.push(member);
  }

  /** Takes an object out; says whether it was in. The last takes its place. */
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

  /** What is in it now, in no order; changes of the set do not change it. */
  values(): Member[] {
    return [...this.members];
  }
}
