import type { Socket } from 'node:net';
import { type buildConnector, Client } from 'undici';
import type { Deadline } from './deadline.ts';
import { Exchange, type ExchangeResult } from './exchange.ts';
import { Misbehaviour, timedOut } from './fault.ts';
import type { PostRequest } from './post-request.ts';

const KIB = 1024;
/** Header fields of one answer, or of one interim answer. */
const MAX_HEADER_BYTES = 16 * KIB;
/** All of one exchange, with what is around a body in small chunks and before a header: more is somebody who wants to keep us busy. */
const MAX_RECEIVED_BYTES = 1024 * KIB;
/** How long a connection is kept without use, unless the receiver says how long it keeps it. */
const IDLE_MS = 4_000;
const MAX_IDLE_MS = 30_000;
/** What a receiver says is taken for shorter by this much, since it began to count earlier. */
const TRAVEL_MS = 1_000;

/** One connection to a receiver that is open, to one address for as long as it lasts. */
export class Connection {
  private readonly client: Client;
  private heard = 0;
  private hasServed = false;

  /**
   * @param origin of the URLs that are posted to over it
   * @param socket connected, TLS and all
   */
  constructor(
    readonly origin: string,
    readonly address: string,
    private readonly socket: Socket,
  ) {
    socket.on('readable', () => this.listen());
    this.client = new Client(origin, {
      connect: (_options, done) => process.nextTick(() => this.handOver(done)),
      pipelining: 1,
      maxHeaderSize: MAX_HEADER_BYTES,
      headersTimeout: 0,
      bodyTimeout: 0,
      keepAliveTimeout: IDLE_MS,
      keepAliveMaxTimeout: MAX_IDLE_MS,
      keepAliveTimeoutThreshold: TRAVEL_MS,
    });
  }

  get isOpen(): boolean {
    return !this.socket.destroyed && this.socket.writable;
  }

  onClose(listener: () => void): void {
    this.socket.once('close', listener);
  }

  /**
   * Posts, and takes in the answer.
   *
   * @param path with the query
   * @returns `stale` when the connection had served before and was found closed: nothing says that the receiver saw the request
   */
  async post(
    path: string,
    { headers, body }: PostRequest,
    deadline: Deadline,
  ): Promise<ExchangeResult | 'stale'> {
    const isFirst = !this.hasServed;
    this.hasServed = true;
    this.heard = 0;
    const result = await this.exchange(path, headers, body, deadline);
    const isSilent = this.heard === 0 && result.kind === 'failed' && result.errorClass === 'connect';
    return isSilent && !isFirst ? 'stale' : result;
  }

  close(): void {
    this.socket.destroy();
    void this.client.destroy();
  }

  private exchange(
    path: string,
    headers: PostRequest['headers'],
    body: Uint8Array,
    deadline: Deadline,
  ): Promise<ExchangeResult> {
    return new Promise((resolve, reject) => {
      const exchange = new Exchange(() => this.heard > 0, resolve, reject);
      this.client.dispatch({ method: 'POST', path, headers, body }, exchange);
      deadline.guard(() => exchange.giveUp(timedOut('exchange', deadline.ms)));
    });
  }

  /** A connection that is lost is not made again: the address would have to be judged again first. */
  private handOver(done: buildConnector.Callback): void {
    if (this.isOpen) done(null, this.socket);
    else done(Object.assign(new Error('the connection was lost'), { code: 'ECONNRESET' }), null);
  }

  /** Runs before the client reads what has come, and sees all of it. */
  private listen(): void {
    this.heard += this.socket.readableLength;
    if (this.heard > MAX_RECEIVED_BYTES)
      this.socket.destroy(new Misbehaviour('more came than belongs to an answer'));
  }
}
