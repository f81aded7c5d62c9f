import type { Connection } from './connection.ts';
import type { Target } from './target.ts';

/** The connections that are open and have nothing to do. */
export class IdleConnections {
  /** By origin, the one that was used last at the end: what is not needed grows old and is closed. */
  private readonly byOrigin = new Map<string, Connection[]>();
  private count = 0;

  /** @param max so many are kept over all origins; of more, one that has waited long is closed */
  constructor(private readonly max: number) {}

  get size(): number {
    return this.count;
  }

  /** One to the origin, and to an address, of the target; it is the caller's until it is put back. */
  take({ place, addresses }: Target): Connection | undefined {
    const connection = this.byOrigin
      .get(place.origin)
      ?.findLast(({ isOpen, address }) => isOpen && addresses.includes(address));
    if (connection !== undefined) this.drop(connection);
    return connection;
  }

  put(connection: Connection): void {
    const ofOrigin = this.byOrigin.get(connection.origin);
    if (ofOrigin === undefined) this.byOrigin.set(connection.origin, [connection]);
    else ofOrigin.push(connection);
    this.count += 1;
    if (this.count > this.max) this.closeOldest();
  }

  /** Forgets one, if it is here. */
  drop(connection: Connection): void {
    const ofOrigin = this.byOrigin.get(connection.origin);
    const place = ofOrigin?.lastIndexOf(connection) ?? -1;
    if (ofOrigin === undefined || place < 0) return;
    this.count -= 1;
    if (ofOrigin.length > 1) ofOrigin.splice(place, 1);
    else this.byOrigin.delete(connection.origin);
  }

  closeAll(): void {
    for (const connection of [...this.byOrigin.values()].flat()) this.closeOne(connection);
  }

  /** The first of the origin that has been here longest. */
  private closeOldest(): void {
    for (const [oldest] of this.byOrigin.values()) return oldest && this.closeOne(oldest);
  }

  private closeOne(connection: Connection): void {
    this.drop(connection);
    connection.close();
  }
}
