/**
 * The bodies that are arriving from callers who are not authenticated yet. If they hold too many bytes, the oldest is given up: a body that arrives at all
 * is complete, or its sender known, before that much of others has arrived. Otherwise some thousand connections without a key could hold all bytes in
 * flight, and everybody else would be answered 503.
 */
export class UnauthenticatedBodies {
  /** The bytes of each body, by what gives it up; the oldest first. */
  private readonly bodies = new Map<() => void, number>();
  private bytes = 0;

  constructor(private readonly maxBytes: number) {}

  /** Notes how many bytes of a body have arrived. @param giveUp refuses it; always the same for the same body */
  note(giveUp: () => void, bytes: number): void {
    this.bytes += bytes - (this.bodies.get(giveUp) ?? 0);
    this.bodies.set(giveUp, bytes);
    while (this.bytes > this.maxBytes && this.bodies.size > 1) this.giveUpOldest();
  }

  /** The body is complete, its sender known, or its connection closed. */
  forget(giveUp: () => void): void {
    this.bytes -= this.bodies.get(giveUp) ?? 0;
    this.bodies.delete(giveUp);
  }

  private giveUpOldest(): void {
    const [oldest] = this.bodies.keys();
    this.forget(oldest!);
    oldest!();
  }
}
