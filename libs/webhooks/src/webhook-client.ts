import { createSecureContext, getCACertificates, type SecureContext } from 'node:tls';
import type { PostFailure, WebhookUrlPolicy } from '@posthorn/domain';
import { Connection } from './connection.ts';
import { Deadline } from './deadline.ts';
import type { ExchangeResult } from './exchange.ts';
import { connectFault, failed, timedOut } from './fault.ts';
import { IdleConnections } from './idle-connections.ts';
import { openSocket } from './open-socket.ts';
import type { PostRequest, PostResult } from './post-request.ts';
import { isFailure, type LookUpAddresses, type Place, type Target, TargetJudge } from './target.ts';

const MAX_IDLE = 256;

export interface WebhookClientOptions {
  /** What may be posted to beside https to public addresses. */
  readonly policy: WebhookUrlPolicy;
  /** Asked once a POST. It has an answer, or a failure, for every name. */
  readonly lookUp: LookUpAddresses;
  /** Certificates (PEM) of authorities that are trusted beside those that Node trusts. */
  readonly authorities?: readonly string[];
  /** How many connections are kept open without use, over all receivers. */
  readonly maxIdle?: number;
}

/** What a POST came to, and over which address. */
type Reached = ExchangeResult & { readonly address?: string };

/**
 * The only HTTP client for URLs that callers choose. It posts to addresses that it has judged in the same call, follows
 * nothing, decompresses nothing, knows no proxy, and takes in a bounded part of an answer. There are as many connections at once
 * as there are POSTs under way, and a bounded number that wait for the next one.
 */
export class WebhookClient {
  private readonly judge: TargetJudge;
  private readonly idle: IdleConnections;
  private readonly secureContext: SecureContext;
  private open = 0;
  private isClosed = false;

  constructor(private readonly options: WebhookClientOptions) {
    this.judge = new TargetJudge(options.policy);
    this.idle = new IdleConnections(options.maxIdle ?? MAX_IDLE);
    const { authorities = [] } = options;
    const ca = authorities.length === 0 ? {} : { ca: [...getCACertificates('default'), ...authorities] };
    this.secureContext = createSecureContext(ca);
  }

  /** The connections that are open now. */
  get connections(): { readonly open: number; readonly idle: number } {
    return { open: this.open, idle: this.idle.size };
  }

  /**
   * Posts once. What a receiver, a name server or the network does is a result, whatever it is, and comes soon after the
   * deadline at the latest.
   *
   * @param onAddresses told when it is known where the receiver is: what it takes from then on is the receiver's doing
   * @throws for a request that cannot be written: a header field that is none
   */
  async post(request: PostRequest, onAddresses?: () => void): Promise<PostResult> {
    const begun = performance.now();
    const passed = (): number => performance.now() - begun;
    const deadline = new Deadline(request.deadlineMs);
    try {
      const target = await this.find(request.url, deadline);
      if (isFailure(target)) return { durationMs: passed(), ...target };
      onAddresses?.();
      const reached = await this.reach(target, request, deadline);
      return { durationMs: passed(), ...reached };
    } finally {
      deadline.clear();
    }
  }

  /** Closes the connections that wait for a next POST. */
  closeIdle(): void {
    this.idle.closeAll();
  }

  /** Closes what is idle now, and the rest when its POST is done. */
  close(): void {
    this.isClosed = true;
    this.closeIdle();
  }

  private async find(url: string, deadline: Deadline): Promise<Target | PostFailure> {
    const place = this.judge.judgeUrl(url);
    if (isFailure(place)) return place;
    return place.isName ? this.lookUp(place, deadline) : { place, addresses: [place.host] };
  }

  private async reach(target: Target, request: PostRequest, deadline: Deadline): Promise<Reached> {
    const kept = this.idle.take(target);
    const result = kept && (await this.postOver(kept, target, request, deadline));
    if (result !== undefined && result !== 'stale') return result;
    const fresh = await this.connect(target, deadline);
    if (isFailure(fresh)) return fresh;
    return (await this.postOver(fresh, target, request, deadline)) as Reached;
  }

  private lookUp(place: Place, deadline: Deadline): Promise<Target | PostFailure> {
    return new Promise((resolve, reject) => {
      deadline.guard(() => resolve(timedOut('name', deadline.ms)));
      this.options
        .lookUp(place.host)
        .then((answer) => resolve(this.judge.judgeAnswer(place, answer)))
        .catch(reject);
    });
  }

  private async connect(target: Target, deadline: Deadline): Promise<Connection | PostFailure> {
    const socket = await openSocket(target, this.secureContext, deadline);
    if (isFailure(socket)) return socket;
    const { remoteAddress: address } = socket;
    // That it led where it may is not left to what lies between here and the operating system.
    if (address !== undefined && this.judge.mayConnect(address))
      return this.keep(new Connection(target.place.origin, address, socket));
    socket.destroy();
    // The receiver was quicker to break it than we were to look.
    if (address === undefined) return connectFault({ code: 'ECONNRESET' }, 'connect');
    return failed('blocked', 'the connection led to another address');
  }

  private keep(connection: Connection): Connection {
    this.open += 1;
    connection.onClose(() => {
      this.open -= 1;
      this.idle.drop(connection);
    });
    return connection;
  }

  private async postOver(
    connection: Connection,
    { place }: Target,
    request: PostRequest,
    deadline: Deadline,
  ): Promise<Reached | 'stale'> {
    try {
      const result = await connection.post(place.path, request, deadline);
      return result === 'stale' ? result : { address: connection.address, ...result };
    } finally {
      if (connection.isOpen && !this.isClosed) this.idle.put(connection);
      else connection.close();
    }
  }
}
