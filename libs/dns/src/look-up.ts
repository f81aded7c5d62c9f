import { CANCELLED, CONNREFUSED, NODATA, NOTFOUND, promises } from 'node:dns';
import { startTimeout } from '@posthorn/kernel';

/**
 * How long to wait for a name server before the next one is asked as well; doubled in each round. Much less than what makes a webhook's
 * receiver count as slow, so that none does because a name server is dead.
 */
const NEXT_SERVER_AFTER_MS = 500;
/** How often each server is asked: datagrams get lost, and a server that fails may answer the next time. */
const ROUNDS = 3;

/** The records of a name, or an error code. */
export type QueryResult<Record> = { readonly records: readonly Record[] } | { readonly code: string };

/** Asks one resolver. */
export type Query<Record> = (resolver: promises.Resolver) => Promise<Record[]>;

export interface LookUpOptions {
  /** Name servers to ask, as `address:port`; none: those of the system. */
  readonly servers: readonly string[];
  /** For all attempts together. */
  readonly timeoutMs: number;
}

/**
 * One look-up, of one or more queries. Name servers are asked one after the other, and the first answer of any of them wins. Each attempt has
 * a resolver of its own, since a Node resolver that goes on to its next server ignores later answers of the one before.
 */
export class LookUp {
  private readonly servers: readonly string[];
  /** One for each attempt, since a resolver can only cancel all its queries. */
  private readonly resolvers: promises.Resolver[] = [];
  private readonly timeoutCancels: (() => void)[] = [];
  private isOver = false;

  constructor(private readonly options: LookUpOptions) {
    const { servers, timeoutMs } = options;
    this.servers = servers.length > 0 ? servers : new promises.Resolver().getServers();
    this.endWithin(timeoutMs);
  }

  /** Queries without an answer by then fail. */
  endWithin(ms: number): void {
    this.timeoutCancels.push(startTimeout(ms, () => this.end()));
  }

  end(): void {
    this.isOver = true;
    for (const cancelTimeout of this.timeoutCancels) cancelTimeout();
    for (const resolver of this.resolvers) resolver.cancel();
  }

  async query<Record>(query: Query<Record>): Promise<QueryResult<Record>> {
    try {
      return await this.queryFrom(0, query);
    } catch (error) {
      return { code: errorCodeOf(error) };
    }
  }

  /**
   * The first answer of the attempts from this one on. A server's failure is no answer, since another server may know.
   *
   * @throws the errors of all attempts, when none has an answer
   */
  private async queryFrom<Record>(index: number, query: Query<Record>): Promise<QueryResult<Record>> {
    const answer = resultOf(query(this.resolverOf(index)));
    const answered = answer.then(
      () => true,
      () => false,
    );
    const isAnswered = await Promise.race([answered, this.startNextAfter(index)]);
    if (isAnswered || this.isOver || index + 1 >= this.servers.length * ROUNDS) return answer;
    return Promise.any([answer, this.queryFrom(index + 1, query)]);
  }

  private resolverOf(index: number): promises.Resolver {
    return (this.resolvers[index] ??= this.newResolver(this.servers[index % this.servers.length]!));
  }

  private newResolver(server: string): promises.Resolver {
    // Longer than the look-up, which ends the attempts itself. `maxTimeout` has to be set too: its default of 5 s caps `timeout`.
    const timeout = 2 * this.options.timeoutMs;
    const resolver = new promises.Resolver({ timeout, maxTimeout: timeout, tries: 1 });
    // `getServers` gives a link-local address without its interface, so a single server of the system is left as it is.
    if (this.options.servers.length > 0 || this.servers.length > 1) resolver.setServers([server]);
    return resolver;
  }

  private startNextAfter(index: number): Promise<false> {
    const ms = NEXT_SERVER_AFTER_MS * 2 ** Math.floor(index / this.servers.length);
    return new Promise((resolve) => {
      this.timeoutCancels.push(startTimeout(ms, () => resolve(false)));
    });
  }
}

/** That there are no records is a result; any other error is thrown. */
async function resultOf<Record>(asked: Promise<Record[]>): Promise<QueryResult<Record>> {
  try {
    const records = await asked;
    // So an alias to a name without such records is answered.
    return records.length === 0 ? { code: NODATA } : { records };
  } catch (error) {
    const code = errorCodeOf(error);
    if (isAbsence(code)) return { code };
    throw error;
  }
}

/** Whether a name server has said that there is no such record. */
export function isAbsence(code: string): boolean {
  return code === NOTFOUND || code === NODATA;
}

/** Of several attempts: the error that a server answered; else the timeout of one; else that none could be reached. */
function errorCodeOf(error: unknown): string {
  if (!(error instanceof AggregateError)) return (error as NodeJS.ErrnoException).code ?? '';
  const codes = (error.errors as unknown[]).map(errorCodeOf);
  const said = codes.find((code) => code !== CANCELLED && code !== CONNREFUSED);
  return said ?? (codes.includes(CANCELLED) ? CANCELLED : CONNREFUSED);
}
