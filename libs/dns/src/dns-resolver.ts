import { CANCELLED, CONNREFUSED, NODATA, NOTFOUND, promises } from 'node:dns';
import type { AddressAnswer, TxtAnswer } from '@posthorn/domain';

export interface DnsResolverOptions {
  /** Name servers to ask, as `address:port`; none: those of the system. */
  readonly servers: readonly string[];
  /** How long a look-up may take with all its tries. */
  readonly timeoutMs: number;
}

/** Each server is asked so often before the look-up has failed. */
const TRIES = 2;

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

/** The records at a name, or the code of what it failed of. */
type Found<Record> = { readonly records: readonly Record[] } | { readonly code: string };

/** Looks up DNS records. What name servers and the network do is an answer, never an exception. */
export class DnsResolver {
  constructor(private readonly options: DnsResolverOptions) {}

  /** The TXT records at a name; aliases (CNAME) are followed. Nothing is remembered from one call to the next. */
  async lookUpTxt(name: string): Promise<TxtAnswer> {
    const found = await this.ask((resolver) => settle(resolver.resolveTxt(name)));
    if ('code' in found) return this.isAbsence(found) ? { kind: 'absent' } : this.failure(found);
    return { kind: 'found', values: found.records.map((strings) => strings.join('')) };
  }

  /** The hosts that take mail for a domain, as its MX records name them, the preferred first. */
  async lookUpMailHosts(domain: string): Promise<TxtAnswer> {
    const found = await this.ask((resolver) => settle(resolver.resolveMx(domain)));
    if ('code' in found) return this.isAbsence(found) ? { kind: 'absent' } : this.failure(found);
    const hosts = [...found.records].sort((one, other) => one.priority - other.priority);
    return { kind: 'found', values: hosts.map(({ exchange }) => exchange) };
  }

  /**
   * The addresses at a name, of both families; aliases are followed. One family is enough: the other may be absent, or its question
   * unanswered. Files of the system such as `/etc/hosts` are not asked.
   */
  async lookUpAddresses(name: string): Promise<AddressAnswer> {
    if (LOCALHOST.test(name)) return { kind: 'found', addresses: LOOPBACK };
    const families = await this.ask(async (resolver, endWithin) => {
      const asked = [settle(resolver.resolve4(name)), settle(resolver.resolve6(name))];
      if ('records' in (await Promise.race(asked))) endWithin(OTHER_FAMILY_MS);
      return Promise.all(asked);
    });
    const addresses = families.flatMap((family) => ('records' in family ? family.records : []));
    if (addresses.length > 0) return { kind: 'found', addresses };
    const failed = families.find((family) => 'code' in family && !this.isAbsence(family));
    if (failed === undefined || !('code' in failed)) return { kind: 'absent' };
    return { ...this.failure(failed), isOurs: failed.code === CONNREFUSED };
  }

  /**
   * The time-out of the resolver is one server's and grows with each try; the one here is the whole look-up's.
   *
   * @param question it may end the look-up sooner
   */
  private async ask<Answer>(
    question: (resolver: promises.Resolver, endWithin: (ms: number) => void) => Promise<Answer>,
  ): Promise<Answer> {
    const resolver = this.newResolver();
    const timers: NodeJS.Timeout[] = [];
    const endWithin = (ms: number): unknown => timers.push(setTimeout(() => resolver.cancel(), ms));
    endWithin(this.options.timeoutMs);
    try {
      return await question(resolver, endWithin);
    } finally {
      for (const timer of timers) clearTimeout(timer);
    }
  }

  /** One for each look-up, because a resolver can only cancel all that it was asked. */
  private newResolver(): promises.Resolver {
    const { servers, timeoutMs } = this.options;
    const resolver = new promises.Resolver({ timeout: Math.ceil(timeoutMs / TRIES), tries: TRIES });
    if (servers.length > 0) resolver.setServers(servers);
    return resolver;
  }

  private isAbsence({ code }: { readonly code: string }): boolean {
    return code === NOTFOUND || code === NODATA;
  }

  private failure({ code }: { readonly code: string }): { readonly kind: 'failed'; readonly reason: string } {
    if (code === CANCELLED)
      return { kind: 'failed', reason: `no name server answered within ${this.options.timeoutMs} ms` };
    return { kind: 'failed', reason: REASONS[code] ?? 'the look-up failed' };
  }
}

async function settle<Record>(asked: Promise<Record[]>): Promise<Found<Record>> {
  try {
    const records = await asked;
    // An alias whose end has no such record comes back as an answer with none in it.
    return records.length === 0 ? { code: NODATA } : { records };
  } catch (error) {
    return { code: (error as NodeJS.ErrnoException).code ?? '' };
  }
}
