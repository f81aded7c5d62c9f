import { within } from '@posthorn/kernel';

/** Who knows where the relay was does not wait longer for name servers to say where it is. */
const KNOWN_AFTER_MS = 2_000;

/** Where it failed, no connection is made for so long while it does not fail elsewhere. */
const AVOIDED_FOR_MS = 300_000;

/** Gives the addresses at a name. @throws as `dns.lookup` does */
export type LookUp = (host: string) => Promise<readonly string[]>;

export interface RelayAddressesOptions {
  /** How long is waited for name servers. */
  readonly patienceMs: number;
  /** For how long nobody is asked again. */
  readonly freshMs: number;
  readonly lookUp: LookUp;
}

/**
 * Where a relay is. It is asked for again and again, because another server may take over its name; those who ask at once share the
 * answer. While no name server answers, where it was last counts; that there is no such name counts at once.
 */
export class RelayAddresses {
  private asking: Promise<readonly string[]> | undefined;
  private known: readonly string[] | undefined;
  private askedAt = 0;
  /** Until when, by the monotonic clock. */
  private readonly avoided = new Map<string, number>();

  constructor(
    private readonly host: string,
    private readonly options: RelayAddressesOptions,
  ) {}

  /** @throws when there is no such name, or nobody knows */
  async find(): Promise<readonly string[]> {
    const { known } = this;
    const { patienceMs, freshMs } = this.options;
    if (known !== undefined && performance.now() - this.askedAt < freshMs) return known;
    this.asking ??= this.ask().finally(() => (this.asking = undefined));
    const waitMs = known === undefined ? patienceMs : Math.min(KNOWN_AFTER_MS, patienceMs);
    const found = (await within(this.asking, waitMs)) ?? known;
    if (found === undefined)
      throw new Error(`no name server answered about ${this.host} within ${patienceMs} ms`);
    return found;
  }

  /** Whether it has failed there lately. */
  isAvoided(address: string): boolean {
    return (this.avoided.get(address) ?? 0) > performance.now();
  }

  avoid(address: string): void {
    this.avoided.set(address, performance.now() + AVOIDED_FOR_MS);
  }

  private async ask(): Promise<readonly string[]> {
    this.askedAt = performance.now();
    try {
      this.known = await this.options.lookUp(this.host);
      for (const address of this.avoided.keys()) if (!this.isAvoided(address)) this.avoided.delete(address);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOTFOUND') this.known = undefined;
      if (this.known === undefined) throw error;
    }
    return this.known;
  }
}

/** The search for the address at which one connection can be made: of those at a name some may fail, and then the others are tried. */
export class AddressSearch {
  private left: readonly string[] | undefined;
  private tried: readonly string[] = [];

  constructor(private readonly addresses: RelayAddresses) {}

  /** Those to be tried next. @throws what `RelayAddresses.find` does */
  async find(): Promise<readonly string[]> {
    this.left ??= await this.addresses.find();
    const good = this.left.filter((address) => !this.addresses.isAvoided(address));
    this.tried = good.length > 0 ? good : this.left;
    return this.tried;
  }

  /** Told that others of them took no connection, before one did. */
  passedBy(addresses: readonly string[]): void {
    for (const address of addresses) this.addresses.avoid(address);
  }

  /** Told that it failed, at this address if any was reached. @returns whether there are others */
  failedAt(reached: string | undefined): boolean {
    const failed = this.tried.filter((address) => address === reached);
    const gone = failed.length > 0 ? failed : this.tried;
    for (const address of gone) this.addresses.avoid(address);
    this.left = this.left?.filter((address) => !gone.includes(address)) ?? [];
    return this.left.length > 0;
  }
}
