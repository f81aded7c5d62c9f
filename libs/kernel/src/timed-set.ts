import { BoundedMap } from './bounded-map.ts';

/** A set of at most `max` members, each of which leaves it `ms` milliseconds after it was added last, by the monotonic clock. */
export class TimedSet<Member> {
  private readonly until: BoundedMap<Member, number>;

  constructor(
    max: number,
    private readonly ms: number,
  ) {
    this.until = new BoundedMap(max);
  }

  add(member: Member): void {
    this.until.set(member, performance.now() + this.ms);
  }

  has(member: Member): boolean {
    return performance.now() < (this.until.get(member) ?? 0);
  }
}
