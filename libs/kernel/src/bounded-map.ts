/**
 * A map of so many entries at most: for one more, the one that was set the longest ago is forgotten. What is set again is the youngest; reading makes
 * nothing younger.
 */
export class BoundedMap<Key, Value> extends Map<Key, Value> {
  constructor(private readonly most: number) {
    super();
  }

  override set(key: Key, value: Value): this {
    // A Map keeps the order of insertion, and what it has already where it stands.
    this.delete(key);
    super.set(key, value);
    if (this.size > this.most) this.delete(this.keys().next().value!);
    return this;
  }
}
