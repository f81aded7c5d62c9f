import { TimedSet, within } from '@posthorn/kernel';

/** When earlier addresses are known, they are used after waiting this long for name servers. */
const FALLBACK_AFTER_MS = 2_000;

/** How long a failed address is avoided while there are others. */
const AVOID_MS = 300_000;
/** More than a relay has at once. */
const MAX_AVOIDED = 1_000;

/** Resolves a name to addresses. @throws as `dns.lookup` */
export type LookUp = (host: string) => Promise<readonly string[]>;

export interface RelayAddressesOptions {
  /** How long to wait for name servers. */
  readonly waitTimeoutMs: number;
  /** How long an answer is cached. */
  readonly freshMs: number;
  readonly lookUp: LookUp;
}

/**
 * The addresses of a relay. They are looked up regularly, because another server may take over the name; concurrent look-ups share an answer. While no name server
 * answers, the last known addresses are used; but an answer that the name does not exist takes effect at once.
 */
export class RelayAddresses {
  private asking: Promise<readonly string[]> | undefined;
  private known: readonly string[] | undefined;
  private askedAt = 0;
  private readonly avoided = new TimedSet<string>(MAX_AVOIDED, AVOID_MS);

  constructor(
    private readonly host: string,
    private readonly options: RelayAddressesOptions,
  ) {}

  /** @throws when the name does not exist, or no name server answers and no address is known */
  async find(): Promise<readonly string[]> {
    const { known } = this;
    const { waitTimeoutMs, freshMs } = this.options;
    if (known !== undefined && performance.now() - this.askedAt < freshMs) return known;
    this.asking ??= this.ask().finally(() => (this.asking = undefined));
    const waitMs = known === undefined ? waitTimeoutMs : Math.min(FALLBACK_AFTER_MS, waitTimeoutMs);
    const found = (await within(this.asking, waitMs)) ?? known;
    if (found === undefined)
      throw new Error(`no name server answered about ${this.host} within ${waitTimeoutMs} ms`);
    return found;
  }

  /** Whether this address has failed recently. */
  isAvoided(address: string): boolean {
    return this.avoided.has(address);
  }

  avoid(address: string): void {
    this.avoided.add(address);
  }

  private async ask(): Promise<readonly string[]> {
    this.askedAt = performance.now();
    try {
      this.known = await this.options.lookUp(this.host);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOTFOUND') this.known = undefined;
      if (this.known === undefined) throw error;
    }
    return this.known;
  }
}

/** The addresses to try for one connection: those that fail are dropped, and the others tried. */
export class AddressSearch {
  private left: readonly string[] | undefined;
  private tried: readonly string[] = [];

  constructor(private readonly addresses: RelayAddresses) {}

  /** The addresses to try next. @throws as `RelayAddresses.find` */
  async find(): Promise<readonly string[]> {
    this.left ??= await this.addresses.find();
    const good = this.left.filter((address) => !this.addresses.isAvoided(address));
    this.tried = good.length > 0 ? good : this.left;
    return this.tried;
  }

  /** Called with addresses that did not accept a connection, after another one did. */
  noteFailed(addresses: readonly string[]): void {
    for (const address of addresses) this.addresses.avoid(address);
  }

  /** Called when the connection failed, with the address if one was reached. @returns whether there are others to try */
  failedAt(reached: string | undefined): boolean {
    const failed = this.tried.filter((address) => address === reached);
    const gone = failed.length > 0 ? failed : this.tried;
    for (const address of gone) this.addresses.avoid(address);
    this.left = this.left?.filter((address) => !gone.includes(address)) ?? [];
    return this.left.length > 0;
  }
}
