import type { Connection } from './connection.ts';
import type { Target } from './target.ts';

/** A pool of open, idle connections. */
export class IdleConnections {
  /** By origin, as stacks: the most recently used is taken first, so that surplus ones reach their idle timeout. */
  private readonly byOrigin = new Map<string, Connection[]>();
  private count = 0;

  /** @param max maximum number over all origins; beyond that, an old one is closed */
  constructor(private readonly max: number) {}

  get size(): number {
    return this.count;
  }

  /** Takes a connection to the origin, and to one of the addresses, of the target, if there is one. */
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

  /** Removes a connection, if it is in the pool. */
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

  /** Closes the oldest connection of the origin that was added first. */
  private closeOldest(): void {
    for (const [oldest] of this.byOrigin.values()) return oldest && this.closeOne(oldest);
  }

  private closeOne(connection: Connection): void {
    this.drop(connection);
    connection.close();
  }
}
