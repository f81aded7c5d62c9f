/** A connection in a slot of the pool. */
export interface PooledConnection {
  /** Whether it can still be used, as far as is known. */
  readonly isAlive: boolean;
  /** Says QUIT; resolves when the socket is closed; never rejects. */
  quit(): Promise<void>;
}

/** The right to have one connection; it may contain one that is kept alive. */
export interface ConnectionSlot<Connection> {
  connection: Connection | undefined;
}

interface IdleSlot<Connection> {
  readonly slot: ConnectionSlot<Connection>;
  readonly timer: NodeJS.Timeout;
}

/**
 * A pool with a fixed number of slots for connections. A slot is given back only when its connection is idle or completely closed, so there are never more
 * connections than slots, even while some are being opened or closed.
 */
export class ConnectionPool<Connection extends PooledConnection> {
  private readonly slots: readonly ConnectionSlot<Connection>[];
  private readonly empty: ConnectionSlot<Connection>[];
  /** A stack: the most recently used connection is taken first, so that surplus ones reach the idle timeout. */
  private readonly idle: IdleSlot<Connection>[] = [];
  private readonly waiting: ((slot: ConnectionSlot<Connection>) => void)[] = [];
  private readonly coolingDown = new Map<ConnectionSlot<Connection>, NodeJS.Timeout>();

  /**
   * @param maxConnections the number of slots
   * @param idleMs a connection is closed after being idle this long
   */
  constructor(
    maxConnections: number,
    private readonly idleMs: number,
  ) {
    this.slots = Array.from({ length: maxConnections }, () => ({ connection: undefined }));
    this.empty = [...this.slots];
  }

  /** Whether a connection is open in another slot. */
  hasOtherOpen(slot: ConnectionSlot<Connection>): boolean {
    return this.slots.some((other) => other !== slot && other.connection?.isAlive);
  }

  /** Takes a slot, with an idle connection if there is one, as soon as one is free; first come, first served. */
  take(): Promise<ConnectionSlot<Connection>> {
    const idle = this.idle.pop();
    if (idle !== undefined) {
      clearTimeout(idle.timer);
      return Promise.resolve(idle.slot);
    }
    const slot = this.empty.pop();
    return slot !== undefined ? Promise.resolve(slot) : new Promise((resolve) => this.waiting.push(resolve));
  }

  /** Gives a slot back, with the connection to keep alive, if any. */
  give(slot: ConnectionSlot<Connection>): void {
    const next = this.waiting.shift();
    if (next !== undefined) next(slot);
    else if (slot.connection?.isAlive) this.keepIdle(slot);
    else this.keepEmpty(slot);
  }

  /** How many slots are cooling down. */
  get coolingDownCount(): number {
    return this.coolingDown.size;
  }

  /** Gives a slot back that must not be used for a while, because the relay does not accept that many connections. */
  cooldown(slot: ConnectionSlot<Connection>, ms: number): void {
    const timer = setTimeout(() => this.endCooldown(slot), ms);
    this.coolingDown.set(slot, timer);
  }

  /** Waits for all slots, behind everybody who already waits for one, and closes their connections. No slot can be taken afterwards. */
  async drain(): Promise<void> {
    for (const slot of this.coolingDown.keys()) this.endCooldown(slot);
    const slots = this.slots.map(() => this.take());
    await Promise.all(slots.map(async (slot) => (await slot).connection?.quit()));
  }

  private endCooldown(slot: ConnectionSlot<Connection>): void {
    clearTimeout(this.coolingDown.get(slot));
    this.coolingDown.delete(slot);
    this.give(slot);
  }

  private keepEmpty(slot: ConnectionSlot<Connection>): void {
    slot.connection = undefined;
    this.empty.push(slot);
  }

  private keepIdle(slot: ConnectionSlot<Connection>): void {
    const timer = setTimeout(() => void this.closeIdle(slot), this.idleMs);
    this.idle.push({ slot, timer });
  }

  private async closeIdle(slot: ConnectionSlot<Connection>): Promise<void> {
    this.idle.splice(
      this.idle.findIndex((idle) => idle.slot === slot),
      1,
    );
    await slot.connection?.quit();
    this.give(slot);
  }
}
