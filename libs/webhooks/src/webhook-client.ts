import { createSecureContext, getCACertificates, type SecureContext } from 'node:tls';
import type { PostFailure, WebhookUrlPolicy } from '@posthorn/domain';
import { Connection } from './connection.ts';
import { Deadline } from './deadline.ts';
import type { ExchangeResult } from './exchange.ts';
import { connectFault, failed, timedOut } from './fault.ts';
import { IdleConnections } from './idle-connections.ts';
import { openSocket } from './open-socket.ts';
import type { PostRequest, PostResult } from './post-request.ts';
import { isFailure, type LookUpAddresses, type Place, type Target, TargetPolicy } from './target.ts';

const MAX_IDLE = 256;

export interface WebhookClientOptions {
  /** What may be posted to other than https URLs at public addresses. */
  readonly policy: WebhookUrlPolicy;
  /** Called once per POST; must resolve for every name, with addresses or a failure. */
  readonly lookUp: LookUpAddresses;
  /** Certificates (PEM) of authorities to trust in addition to Node's. */
  readonly authorities?: readonly string[];
  /** Maximum idle connections over all receivers. */
  readonly maxIdle?: number;
}

/**
 * The only HTTP client for URLs that callers choose. It connects only to addresses that it has checked in the same call, follows no redirects, does not
 * decompress, uses no proxy, and reads a bounded part of a response. Every POST under way has its own connection; a bounded number of idle ones is kept alive.
 */
export class WebhookClient {
  private readonly targetPolicy: TargetPolicy;
  private readonly idle: IdleConnections;
  private readonly secureContext: SecureContext;
  private open = 0;
  private isClosed = false;

  constructor(private readonly options: WebhookClientOptions) {
    this.targetPolicy = new TargetPolicy(options.policy);
    this.idle = new IdleConnections(options.maxIdle ?? MAX_IDLE);
    const { authorities = [] } = options;
    const ca = authorities.length === 0 ? {} : { ca: [...getCACertificates('default'), ...authorities] };
    this.secureContext = createSecureContext(ca);
  }

  /** The current number of connections. */
  get connections(): { readonly open: number; readonly idle: number } {
    return { open: this.open, idle: this.idle.size };
  }

  /**
   * Posts once. Any failure of a receiver, name server or the network is a result and not an error, and is known soon after the deadline at the latest.
   *
   * @param onAddresses called when the address of the receiver is known: the time from then on is the receiver's responsibility
   * @throws for an invalid request, such as an invalid header field
   */
  async post(request: PostRequest, onAddresses?: () => void): Promise<PostResult> {
    const begun = performance.now();
    const elapsedMs = (): number => performance.now() - begun;
    const deadline = new Deadline(request.deadlineMs);
    try {
      const target = await this.find(request.url, deadline);
      if (isFailure(target)) return { durationMs: elapsedMs(), ...target };
      onAddresses?.();
      const reached = await this.reach(target, request, deadline);
      return { durationMs: elapsedMs(), ...reached };
    } finally {
      deadline.clear();
    }
  }

  /** Closes the idle connections. */
  closeIdle(): void {
    this.idle.closeAll();
  }

  /** Closes idle connections now, and the others when their POST is done. */
  close(): void {
    this.isClosed = true;
    this.closeIdle();
  }

  private async find(url: string, deadline: Deadline): Promise<Target | PostFailure> {
    const place = this.targetPolicy.parseAndCheck(url);
    if (isFailure(place)) return place;
    return place.isName ? this.lookUp(place, deadline) : { place, addresses: [place.host] };
  }

  private async reach(target: Target, request: PostRequest, deadline: Deadline): Promise<ExchangeResult> {
    const kept = this.idle.take(target);
    const result = kept && (await this.postOver(kept, target, request, deadline));
    if (result !== undefined && result !== 'stale') return result;
    const fresh = await this.connect(target, deadline);
    if (isFailure(fresh)) return fresh;
    return (await this.postOver(fresh, target, request, deadline)) as ExchangeResult;
  }

  private lookUp(place: Place, deadline: Deadline): Promise<Target | PostFailure> {
    return new Promise((resolve, reject) => {
      deadline.guard(() => resolve(timedOut('name', deadline.ms)));
      this.options
        .lookUp(place.host)
        .then((answer) => resolve(this.targetPolicy.checkAnswer(place, answer)))
        .catch(reject);
    });
  }

  private async connect(target: Target, deadline: Deadline): Promise<Connection | PostFailure> {
    const socket = await openSocket(target, this.secureContext, deadline);
    if (isFailure(socket)) return socket;
    const { remoteAddress: address } = socket;
    // Check the actual peer address too, rather than trusting Node and the operating system.
    if (address !== undefined && this.targetPolicy.mayConnect(address))
      return this.keep(new Connection(target.place.origin, address, socket));
    socket.destroy();
    // The receiver has already closed the connection.
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
  ): Promise<ExchangeResult | 'stale'> {
    try {
      return await connection.post(place.path, request, deadline);
    } finally {
      if (connection.isOpen && !this.isClosed) this.idle.put(connection);
      else connection.close();
    }
  }
}
