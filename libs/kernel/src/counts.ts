/** A counter per key; keys at zero take no memory. */
export class Counts<Key> {
  private readonly counts = new Map<Key, number>();

  of(key: Key): number {
    return this.counts.get(key) ?? 0;
  }

  /** The keys whose count is at least this. */
  keysWith(min: number): Key[] {
    return [...this.counts].flatMap(([key, count]) => (count >= min ? [key] : []));
  }

  add(key: Key, count = 1): void {
    this.counts.set(key, this.of(key) + count);
  }

  remove(key: Key, count = 1): void {
    const left = this.of(key) - count;
    if (left > 0) this.counts.set(key, left);
    else this.counts.delete(key);
  }
}
