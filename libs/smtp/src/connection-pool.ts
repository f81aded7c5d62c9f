/** What a place holds. */
export interface PooledConnection {
  /** Whether it can still be used, as far as is known. */
  readonly isAlive: boolean;
  /** Takes leave, and resolves when no handle is left; never rejects. */
  quit(): Promise<void>;
}

/** The right to have one connection; it may hold one from before. */
export interface Place<Connection> {
  connection: Connection | undefined;
}

interface IdlePlace<Connection> {
  readonly place: Place<Connection>;
  readonly timer: NodeJS.Timeout;
}

/**
 * A fixed number of places for connections. A place is given back only when its connection is idle or wholly closed,
 * so there are never more connections than places, whatever is being opened or closed.
 */
export class ConnectionPool<Connection extends PooledConnection> {
  private readonly places: readonly Place<Connection>[];
  private readonly empty: Place<Connection>[];
  /** The most recently used is last, and first to be taken: the others can become old and be closed. */
  private readonly idle: IdlePlace<Connection>[] = [];
  private readonly waiting: ((place: Place<Connection>) => void)[] = [];
  private readonly resting = new Map<Place<Connection>, NodeJS.Timeout>();

  /**
   * @param maxConnections how many places there are
   * @param idleMs after how many idle milliseconds a connection is closed
   */
  constructor(
    maxConnections: number,
    private readonly idleMs: number,
  ) {
    this.places = Array.from({ length: maxConnections }, () => ({ connection: undefined }));
    this.empty = [...this.places];
  }

  /** Whether a connection is open at another place. */
  isOpenBeside(place: Place<Connection>): boolean {
    return this.places.some((other) => other !== place && other.connection?.isAlive);
  }

  /** A place, with a connection if one is idle, as soon as there is one: first come, first served. */
  take(): Promise<Place<Connection>> {
    const idle = this.idle.pop();
    if (idle !== undefined) {
      clearTimeout(idle.timer);
      return Promise.resolve(idle.place);
    }
    const place = this.empty.pop();
    return place !== undefined
      ? Promise.resolve(place)
      : new Promise((resolve) => this.waiting.push(resolve));
  }

  /** Gives a place back, with the connection that it shall keep. */
  give(place: Place<Connection>): void {
    const next = this.waiting.shift();
    if (next !== undefined) next(place);
    else if (place.connection?.isAlive) this.keepIdle(place);
    else this.keepEmpty(place);
  }

  /** How many places nobody is to have just now. */
  get atRest(): number {
    return this.resting.size;
  }

  /** Gives a place back that nobody is to have for a time: its connection would be one too many. */
  rest(place: Place<Connection>, ms: number): void {
    const timer = setTimeout(() => this.wake(place), ms);
    this.resting.set(place, timer);
  }

  /** Waits for every place, those who came before included, and quits its connection. No place can be taken afterwards. */
  async drain(): Promise<void> {
    for (const place of this.resting.keys()) this.wake(place);
    const places = this.places.map(() => this.take());
    await Promise.all(places.map(async (place) => (await place).connection?.quit()));
  }

  private wake(place: Place<Connection>): void {
    clearTimeout(this.resting.get(place));
    this.resting.delete(place);
    this.give(place);
  }

  private keepEmpty(place: Place<Connection>): void {
    place.connection = undefined;
    this.empty.push(place);
  }

  private keepIdle(place: Place<Connection>): void {
    const timer = setTimeout(() => void this.closeIdle(place), this.idleMs);
    this.idle.push({ place, timer });
  }

  private async closeIdle(place: Place<Connection>): Promise<void> {
    this.idle.splice(
      this.idle.findIndex((idle) => idle.place === place),
      1,
    );
    await place.connection?.quit();
    place.connection = undefined;
    this.give(place);
  }
}
