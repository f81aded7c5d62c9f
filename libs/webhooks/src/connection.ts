import type { Socket } from 'node:net';
import { type buildConnector, Client } from 'undici';
import type { Deadline } from './deadline.ts';
import { Exchange, type ExchangeResult } from './exchange.ts';
import { ProtocolViolation, timedOut } from './fault.ts';
import type { PostRequest } from './post-request.ts';
import { withoutContinue } from './unasked-continue.ts';

const KIB = 1024;
const NOTHING = Buffer.alloc(0);
/** Maximum size of the header of one response, final or interim. */
const MAX_HEADER_BYTES = 16 * KIB;
/** Maximum bytes received in one exchange, including chunk framing and interim responses: anything more is abuse. */
const MAX_RECEIVED_BYTES = 1024 * KIB;
/** Idle timeout of a connection, unless the receiver announces its own (Keep-Alive). */
const IDLE_MS = 4_000;
const MAX_IDLE_MS = 30_000;
/** Subtracted from an announced timeout, because the receiver has started it earlier. */
const TRAVEL_MS = 1_000;

/** An open connection to a receiver, bound to one address. */
export class Connection {
  private readonly client: Client;
  private receivedBytes = 0;
  private hasServed = false;
  /** What was received of an answer that may begin with a `100 Continue`; undefined once undici reads it. */
  private beginning: Buffer | undefined;

  /**
   * @param origin the origin of the URLs that may be posted to over it
   * @param socket connected, with TLS established if needed
   */
  constructor(
    readonly origin: string,
    readonly address: string,
    private readonly socket: Socket,
  ) {
    // Both run before undici reads from the socket.
    socket.on('readable', () => this.countReceived());
    socket.on('readable', () => this.dropContinue());
    this.client = new Client(origin, {
      connect: (_options, done) => process.nextTick(() => this.provideSocket(done)),
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
   * Posts a request and receives the response.
   *
   * @param path including the query
   * @returns `stale` when this is a reused connection that turned out to be closed before any byte was received, so that the request may be repeated
   */
  async post(path: string, request: PostRequest, deadline: Deadline): Promise<ExchangeResult | 'stale'> {
    const isFirst = !this.hasServed;
    this.hasServed = true;
    this.receivedBytes = 0;
    this.beginning = NOTHING;
    const result = await this.exchange(path, request, deadline);
    const nothingReceived =
      this.receivedBytes === 0 && result.kind === 'failed' && result.errorClass === 'connect';
    return nothingReceived && !isFirst ? 'stale' : result;
  }

  close(): void {
    this.socket.destroy();
    void this.client.destroy();
  }

  private exchange(
    path: string,
    { headers, body }: PostRequest,
    deadline: Deadline,
  ): Promise<ExchangeResult> {
    return new Promise((resolve, reject) => {
      const exchange = new Exchange(() => this.receivedBytes > 0, resolve, reject);
      this.client.dispatch({ method: 'POST', path, headers, body }, exchange);
      deadline.guard(() => exchange.giveUp(timedOut('exchange', deadline.ms)));
    });
  }

  /** A lost connection is never re-established here, because its address would have to be checked again first. */
  private provideSocket(done: buildConnector.Callback): void {
    if (this.isOpen) done(null, this.socket);
    else done(Object.assign(new Error('the connection was lost'), { code: 'ECONNRESET' }), null);
  }

  private countReceived(): void {
    this.receivedBytes += this.socket.readableLength;
    if (this.receivedBytes > MAX_RECEIVED_BYTES)
      this.socket.destroy(new ProtocolViolation('the receiver sent too many bytes for one answer'));
  }

  private dropContinue(): void {
    if (this.beginning === undefined) return;
    const chunk = this.socket.read() as Buffer | null;
    if (chunk === null) return;
    const received = this.beginning.length === 0 ? chunk : Buffer.concat([this.beginning, chunk]);
    const { bytes, isOpen } = withoutContinue(received, MAX_HEADER_BYTES);
    this.beginning = isOpen ? bytes : undefined;
    if (!isOpen) this.socket.unshift(bytes);
  }
}
