import { CANCELLED, CONNREFUSED } from 'node:dns';
import { type AddressAnswer, isLocalhost, LOCALHOST_ADDRESSES, type TxtAnswer } from '@posthorn/domain';
import { isAbsence, LookUp, type LookUpOptions, type Query } from './look-up.ts';

/** Why a look-up failed, for people. */
const FAILURE_REASONS: Readonly<Record<string, string>> = {
  ESERVFAIL: 'the name server could not find out (SERVFAIL)',
  EREFUSED: 'the name server refused to answer (REFUSED)',
  ECONNREFUSED: 'no name server could be reached',
  ETIMEOUT: 'no name server answered in time',
  EFORMERR: 'the name server did not understand the question (FORMERR)',
  ENOTIMP: 'the name server does not answer such questions (NOTIMP)',
  EBADRESP: 'the answer of the name server was malformed',
  EBADNAME: 'the name cannot be looked up',
};

/** How long to wait for the other address family once one is known: some servers never say that it has none. */
const OTHER_FAMILY_TIMEOUT_MS = 500;

/** Looks up DNS records. Failures of name servers and of the network are returned, not thrown. */
export class DnsResolver {
  constructor(private readonly options: LookUpOptions) {}

  /** The TXT records of a name; follows aliases (CNAME). Nothing is cached. */
  lookUpTxt(name: string): Promise<TxtAnswer> {
    return this.lookUp(
      (resolver) => resolver.resolveTxt(name),
      (records) => records.map((strings) => strings.join('')),
    );
  }

  /** The mail hosts of a domain, from its MX records, the preferred first. */
  lookUpMailHosts(domain: string): Promise<TxtAnswer> {
    return this.lookUp(
      (resolver) => resolver.resolveMx(domain),
      (records) =>
        records.toSorted((one, other) => one.priority - other.priority).map(({ exchange }) => exchange),
    );
  }

  /**
   * The IPv4 and IPv6 addresses of a name; follows aliases. One family is enough: the other may be absent, or its query unanswered.
   * Does not read `/etc/hosts`.
   */
  async lookUpAddresses(name: string): Promise<AddressAnswer> {
    if (isLocalhost(name)) return { kind: 'found', addresses: LOCALHOST_ADDRESSES };
    const families = await this.withLookUp(async (lookUp) => {
      const asked = [
        lookUp.query((resolver) => resolver.resolve4(name)),
        lookUp.query((resolver) => resolver.resolve6(name)),
      ];
      if ('records' in (await Promise.race(asked))) lookUp.endWithin(OTHER_FAMILY_TIMEOUT_MS);
      return Promise.all(asked);
    });
    const addresses = families.flatMap((family) => ('records' in family ? family.records : []));
    if (addresses.length > 0) return { kind: 'found', addresses };
    const failed = families.find((family) => 'code' in family && !isAbsence(family.code));
    if (failed === undefined || !('code' in failed)) return { kind: 'absent' };
    return { ...this.failure(failed), isOurs: failed.code === CONNREFUSED };
  }

  private async lookUp<Record>(
    query: Query<Record>,
    valuesOf: (records: readonly Record[]) => string[],
  ): Promise<TxtAnswer> {
    const found = await this.withLookUp((lookUp) => lookUp.query(query));
    if ('code' in found) return isAbsence(found.code) ? { kind: 'absent' } : this.failure(found);
    return { kind: 'found', values: valuesOf(found.records) };
  }

  private async withLookUp<Answer>(run: (lookUp: LookUp) => Promise<Answer>): Promise<Answer> {
    const lookUp = new LookUp(this.options);
    try {
      return await run(lookUp);
    } finally {
      lookUp.end();
    }
  }

  private failure({ code }: { readonly code: string }): { readonly kind: 'failed'; readonly reason: string } {
    if (code === CANCELLED)
      return { kind: 'failed', reason: `no name server answered within ${this.options.timeoutMs} ms` };
    return { kind: 'failed', reason: FAILURE_REASONS[code] ?? 'the look-up failed' };
  }
}
