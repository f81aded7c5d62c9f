import { CANCELLED, CONNREFUSED, NODATA, NOTFOUND, promises } from 'node:dns';
import { startTimeout } from '@posthorn/kernel';

/**
 * So long a name server is the only one that is asked; longer in each round. Much less than what makes a receiver of webhooks slow, so that
 * none is taken for slow because a name server is dead.
 */
const NEXT_SERVER_AFTER_MS = 500;
/** Each server is asked so often: datagrams get lost, and what one does not know now it may know the next time. */
const ROUNDS = 3;

/** The records at a name, or the code of what it failed of. */
export type Found<Record> = { readonly records: readonly Record[] } | { readonly code: string };

type Question<Record> = (resolver: promises.Resolver) => Promise<Record[]>;

export interface LookUpOptions {
  /** Name servers to ask, as `address:port`; none: those of the system. */
  readonly servers: readonly string[];
  /** How long it may take with all its tries. */
  readonly timeoutMs: number;
}

/**
 * One look-up, of one question or more. Name servers are asked one after the other, and the first that answers is heard, however slow it is:
 * a resolver of Node's that asks the next one hears the one before no more, so here each try has a resolver of its own.
 */
export class LookUp {
  private readonly servers: readonly string[];
  /** One for each try that was begun: a resolver can only cancel all that it was asked. */
  private readonly resolvers: promises.Resolver[] = [];
  private readonly endWaits: (() => void)[] = [];
  private isOver = false;

  constructor(private readonly options: LookUpOptions) {
    const { servers, timeoutMs } = options;
    this.servers = servers.length > 0 ? servers : new promises.Resolver().getServers();
    this.endWithin(timeoutMs);
  }

  /** What has no answer by then has failed. */
  endWithin(ms: number): void {
    this.endWaits.push(startTimeout(ms, () => this.end()));
  }

  end(): void {
    this.isOver = true;
    for (const cancelTimeout of this.endWaits) cancelTimeout();
    for (const resolver of this.resolvers) resolver.cancel();
  }

  async ask<Record>(question: Question<Record>): Promise<Found<Record>> {
    try {
      return await this.askFrom(0, question);
    } catch (error) {
      return { code: codeOf(error) };
    }
  }

  /**
   * The first answer of the tries from this one on. What a server has failed of is no answer: another one, asked before or after it, may know.
   *
   * @throws what they failed of, when none has one
   */
  private async askFrom<Record>(index: number, question: Question<Record>): Promise<Found<Record>> {
    const answer = answerTo(question(this.resolverOf(index)));
    const answered = answer.then(
      () => true,
      () => false,
    );
    const isAnswered = await Promise.race([answered, this.patienceWith(index)]);
    if (isAnswered || this.isOver || index + 1 >= this.servers.length * ROUNDS) return answer;
    return Promise.any([answer, this.askFrom(index + 1, question)]);
  }

  private resolverOf(index: number): promises.Resolver {
    return (this.resolvers[index] ??= this.newResolver(this.servers[index % this.servers.length]!));
  }

  private newResolver(server: string): promises.Resolver {
    // Its own time would end no try before the look-up ends; without a `maxTimeout` that is 5 s, whatever else is asked for.
    const timeout = 2 * this.options.timeoutMs;
    const resolver = new promises.Resolver({ timeout, maxTimeout: timeout, tries: 1 });
    // Of the system's own a link-local address is shown without its interface: where it is the only one it is left as the system has it.
    if (this.options.servers.length > 0 || this.servers.length > 1) resolver.setServers([server]);
    return resolver;
  }

  private patienceWith(index: number): Promise<false> {
    const ms = NEXT_SERVER_AFTER_MS * 2 ** Math.floor(index / this.servers.length);
    return new Promise((resolve) => {
      this.endWaits.push(startTimeout(ms, () => resolve(false)));
    });
  }
}

/** That there is nothing is an answer; all else that a name server does not know is none. */
async function answerTo<Record>(asked: Promise<Record[]>): Promise<Found<Record>> {
  try {
    const records = await asked;
    // An alias whose end has no such record comes back as an answer with none in it.
    return records.length === 0 ? { code: NODATA } : { records };
  } catch (error) {
    const code = codeOf(error);
    if (isAbsence(code)) return { code };
    throw error;
  }
}

/** Whether a name server has said that there is no such record. */
export function isAbsence(code: string): boolean {
  return code === NOTFOUND || code === NODATA;
}

/** Of several tries: what a name server has said; else that one was silent, before that there was none. */
function codeOf(error: unknown): string {
  if (!(error instanceof AggregateError)) return (error as NodeJS.ErrnoException).code ?? '';
  const codes = (error.errors as unknown[]).map(codeOf);
  const said = codes.find((code) => code !== CANCELLED && code !== CONNREFUSED);
  return said ?? (codes.includes(CANCELLED) ? CANCELLED : CONNREFUSED);
}
