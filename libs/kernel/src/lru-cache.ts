/** How large the values of a cache may be together, in the unit of `sizeOf`, which must always be the same for a value. */
interface SizeLimit<Value> {
  readonly maxSize: number;
  readonly sizeOf: (value: Value) => number;
}

const ANY_SIZE: SizeLimit<unknown> = { maxSize: Infinity, sizeOf: () => 0 };

/**
 * A cache with a maximum number of entries, and optionally of their total size: beyond either, it evicts the entries that were read or set the longest ago.
 * A value that is too large by itself is not kept.
 */
export class LruCache<Key, Value extends object> {
  /** By last use. */
  private readonly entries = new Map<Key, Value>();
  private size = 0;

  constructor(
    private readonly max: number,
    private readonly limit: SizeLimit<Value> = ANY_SIZE,
  ) {}

  get(key: Key): Value | undefined {
    const value = this.entries.get(key);
    // A Map iterates in the order of insertion, and setting an existing key would not move it.
    if (value !== undefined && this.entries.delete(key)) this.entries.set(key, value);
    return value;
  }

  set(key: Key, value: Value): void {
    this.delete(key);
    this.entries.set(key, value);
    this.size += this.limit.sizeOf(value);
    for (const oldest of this.entries.keys()) {
      if (this.entries.size <= this.max && this.size <= this.limit.maxSize) return;
      this.delete(oldest);
    }
  }

  private delete(key: Key): void {
    const value = this.entries.get(key);
    if (value !== undefined && this.entries.delete(key)) this.size -= this.limit.sizeOf(value);
  }
}
