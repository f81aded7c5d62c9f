/** Counts the connections of a server under test. */
export class ConnectionCount {
  /** All connections so far. */
  total = 0;
  /** Connections that are open now. */
  open = 0;
  /** The most connections that were open at once. */
  max = 0;

  opened(): number {
    this.total += 1;
    this.open += 1;
    this.max = Math.max(this.max, this.open);
    return this.total;
  }

  closed(): void {
    this.open -= 1;
  }
}
