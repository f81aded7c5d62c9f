import { CANCELLED, NODATA, NOTFOUND, promises } from 'node:dns';
import { type TxtAnswer } from '@posthorn/domain';

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

/** Looks up DNS records. What name servers and the network do is an answer, never an exception. */
export class DnsResolver {
  constructor(private readonly options: DnsResolverOptions) {}

  /** The TXT records at a name; aliases (CNAME) are followed. Nothing is remembered from one call to the next. */
  async lookUpTxt(name: string): Promise<TxtAnswer> {
    const resolver = this.newResolver();
    // The time-out of the resolver is one server's and grows with each try; this one is the whole look-up's.
    const deadline = setTimeout(() => resolver.cancel(), this.options.timeoutMs);
    try {
      const records = await resolver.resolveTxt(name);
      // An alias whose end has no such record comes back as an answer with none in it.
      if (records.length === 0) return { kind: 'absent' };
      return { kind: 'found', values: records.map((strings) => strings.join('')) };
    } catch (error) {
      return answerOf((error as NodeJS.ErrnoException).code ?? '', this.options.timeoutMs);
    } finally {
      clearTimeout(deadline);
    }
  }

  /** One for each look-up, because a resolver can only cancel all that it was asked. */
  private newResolver(): promises.Resolver {
    const { servers, timeoutMs } = this.options;
    const resolver = new promises.Resolver({ timeout: Math.ceil(timeoutMs / TRIES), tries: TRIES });
    if (servers.length > 0) resolver.setServers(servers);
    return resolver;
  }
}

function answerOf(code: string, timeoutMs: number): TxtAnswer {
  if (code === NOTFOUND || code === NODATA) return { kind: 'absent' };
  if (code === CANCELLED) return { kind: 'failed', reason: `no name server answered within ${timeoutMs} ms` };
  return { kind: 'failed', reason: REASONS[code] ?? 'the look-up failed' };
}
