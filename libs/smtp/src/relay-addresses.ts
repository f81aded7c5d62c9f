import { within } from '@posthorn/kernel';

/** Who knows where the relay was does not wait longer for name servers to say where it is. */
const KNOWN_AFTER_MS = 2_000;

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
