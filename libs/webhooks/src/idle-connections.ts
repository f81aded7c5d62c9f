import { type Connection } from './connection.ts';
import { type Target } from './target.ts';

/** The connections that are open and have nothing to do, the one that has waited longest first. */
export class IdleConnections {
  private readonly all = new Set<Connection>();
  private readonly byOrigin = new Map<string, Set<Connection>>();

  /** @param most so many are kept over all origins; of more, those that have waited longest are closed */
  constructor(private readonly most: number) {}

  get size(): number {
    return this.all.size;
  }

  /** One to the origin, and to an address, of the target; it is the caller's until it is put back. */
  take({ url, addresses }: Target): Connection | undefined {
    for (const connection of this.byOrigin.get(url.origin) ?? []) {
      if (!connection.isOpen || !addresses.includes(connection.address)) continue;
      this.drop(connection);
      return connection;
    }
    return undefined;
  }

  put(connection: Connection): void {
    this.all.add(connection);
    const ofOrigin = this.byOrigin.get(connection.origin) ?? new Set();
    this.byOrigin.set(connection.origin, ofOrigin.add(connection));
    if (this.all.size > this.most) this.closeOldest();
  }

  /** Forgets one, if it is here. */
  drop(connection: Connection): void {
    if (!this.all.delete(connection)) return;
    const ofOrigin = this.byOrigin.get(connection.origin);
    ofOrigin?.delete(connection);
    if (ofOrigin?.size === 0) this.byOrigin.delete(connection.origin);
  }

  closeAll(): void {
    for (const connection of [...this.all]) this.closeOne(connection);
  }

  private closeOldest(): void {
    for (const connection of this.all) return this.closeOne(connection);
  }

  private closeOne(connection: Connection): void {
    this.drop(connection);
    connection.close();
  }
}
