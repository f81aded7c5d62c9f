/**
 * A map with a maximum number of entries: one more evicts the entry that was set the longest ago. Setting a key again makes it the newest; reading
 * does not.
 */
export class BoundedMap<Key, Value> extends Map<Key, Value> {
  constructor(private readonly max: number) {
    super();
  }

  override set(key: Key, value: Value): this {
    // A Map iterates in the order of insertion, and setting an existing key would not move it.
    this.delete(key);
    super.set(key, value);
    if (this.size > this.max) this.delete(this.keys().next().value!);
    return this;
  }
}
