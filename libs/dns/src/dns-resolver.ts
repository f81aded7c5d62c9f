import { CANCELLED, CONNREFUSED } from 'node:dns';
import type { AddressAnswer, TxtAnswer } from '@posthorn/domain';
import { isAbsence, LookUp, type LookUpOptions } from './look-up.ts';

/** What a look-up failed of, in words for people. */
const REASONS: Readonly<Record<string, string>> = {
  ESERVFAIL: 'the name server could not find out (SERVFAIL)',
  EREFUSED: 'the name server refused to answer (REFUSED)',
  ECONNREFUSED: 'no name server could be reached',
  ETIMEOUT: 'no name server answered in time',
  EFORMERR: 'the name server did not understand the question (FORMERR)',
  ENOTIMP: 'the name server does not answer such questions (NOTIMP)',
  EBADRESP: 'the answer of the name server was malformed',
  EBADNAME: 'the name cannot be looked up',
};

/** When the addresses of one family are known, those of the other are waited for so long, because some servers never say that there are none. */
const OTHER_FAMILY_MS = 500;

/** A name that is never asked for, because it means this machine everywhere (RFC 6761, section 6.3). */
const LOCALHOST = /(?:^|\.)localhost$/i;
const LOOPBACK = ['127.0.0.1', '::1'];

/** Looks up DNS records. What name servers and the network do is an answer, never an exception. */
export class DnsResolver {
  constructor(private readonly options: LookUpOptions) {}

  /** The TXT records at a name; aliases (CNAME) are followed. Nothing is remembered from one call to the next. */
  async lookUpTxt(name: string): Promise<TxtAnswer> {
    const found = await this.during((lookUp) => lookUp.ask((resolver) => resolver.resolveTxt(name)));
    if ('code' in found) return isAbsence(found.code) ? { kind: 'absent' } : this.failure(found);
    return { kind: 'found', values: found.records.map((strings) => strings.join('')) };
  }

  /** The hosts that take mail for a domain, as its MX records name them, the preferred first. */
  async lookUpMailHosts(domain: string): Promise<TxtAnswer> {
    const found = await this.during((lookUp) => lookUp.ask((resolver) => resolver.resolveMx(domain)));
    if ('code' in found) return isAbsence(found.code) ? { kind: 'absent' } : this.failure(found);
    const hosts = [...found.records].sort((one, other) => one.priority - other.priority);
    return { kind: 'found', values: hosts.map(({ exchange }) => exchange) };
  }

  /**
   * The addresses at a name, of both families; aliases are followed. One family is enough: the other may be absent, or its question
   * unanswered. Files of the system such as `/etc/hosts` are not asked.
   */
  async lookUpAddresses(name: string): Promise<AddressAnswer> {
    if (LOCALHOST.test(name)) return { kind: 'found', addresses: LOOPBACK };
    const families = await this.during(async (lookUp) => {
      const asked = [
        lookUp.ask((resolver) => resolver.resolve4(name)),
        lookUp.ask((resolver) => resolver.resolve6(name)),
      ];
      if ('records' in (await Promise.race(asked))) lookUp.endWithin(OTHER_FAMILY_MS);
      return Promise.all(asked);
    });
    const addresses = families.flatMap((family) => ('records' in family ? family.records : []));
    if (addresses.length > 0) return { kind: 'found', addresses };
    const failed = families.find((family) => 'code' in family && !isAbsence(family.code));
    if (failed === undefined || !('code' in failed)) return { kind: 'absent' };
    return { ...this.failure(failed), isOurs: failed.code === CONNREFUSED };
  }

  private async during<Answer>(questions: (lookUp: LookUp) => Promise<Answer>): Promise<Answer> {
    const lookUp = new LookUp(this.options);
    try {
      return await questions(lookUp);
    } finally {
      lookUp.end();
    }
  }

  private failure({ code }: { readonly code: string }): { readonly kind: 'failed'; readonly reason: string } {
    if (code === CANCELLED)
      return { kind: 'failed', reason: `no name server answered within ${this.options.timeoutMs} ms` };
    return { kind: 'failed', reason: REASONS[code] ?? 'the look-up failed' };
  }
}
