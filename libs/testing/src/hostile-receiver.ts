import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import { createServer as createTlsServer, type TlsOptions } from 'node:tls';
import {
  HOSTILE_ANSWERS,
  type HostileAnswer,
  lateAnswer,
  type ReceivedRequest,
  retryAfterAnswer,
  statusAnswer,
} from './hostile-answers.ts';
import { ConnectionCount } from './connection-count.ts';

const END_OF_HEADER = '\r\n\r\n';

export interface HostileReceiverOptions {
  /** Key and certificate; without them it speaks plain HTTP, and does not answer a TLS handshake. */
  readonly tls?: TlsOptions;
  /** The address to listen on. Default: 127.0.0.1. */
  readonly host?: string;
  readonly port?: number;
}

/** A webhook receiver that misbehaves in a different way on each path; see `HOSTILE_ANSWERS`. */
export class HostileReceiver {
  /** Every request that was received completely, oldest first. */
  readonly requests: ReceivedRequest[] = [];
  readonly connections = new ConnectionCount();
  /** How many bytes were written on connections that are closed by now. */
  written = 0;
  private readonly sockets = new Set<Socket>();
  private readonly abort = new AbortController();

  private constructor(
    private readonly server: Server,
    private readonly scheme: string,
  ) {}

  static async start({
    tls,
    host = '127.0.0.1',
    port = 0,
  }: HostileReceiverOptions = {}): Promise<HostileReceiver> {
    const server = tls === undefined ? createServer() : createTlsServer(tls);
    const receiver = new HostileReceiver(server, tls === undefined ? 'http' : 'https');
    // Counted below TLS, so that handshakes that never end are counted too.
    server.on('connection', (socket: Socket) => receiver.count(socket));
    server.on(tls === undefined ? 'connection' : 'secureConnection', (socket: Socket) =>
      receiver.serve(socket),
    );
    server.on('tlsClientError', () => undefined);
    await new Promise<void>((resolve) => server.listen(port, host, resolve));
    return receiver;
  }

  get port(): number {
    return (this.server.address() as AddressInfo).port;
  }

  /** The URL of a path. */
  url(path: string, host = '127.0.0.1', scheme = this.scheme): string {
    return `${scheme}://${host}:${this.port}${path}`;
  }

  /** Resolves when no client is connected any more. */
  async allDisconnected(): Promise<void> {
    await Promise.all(
      [...this.sockets].map((socket) => new Promise((resolve) => socket.once('close', resolve))),
    );
  }

  async close(): Promise<void> {
    this.abort.abort();
    const closed = new Promise((resolve) => this.server.close(resolve));
    for (const socket of this.sockets) socket.destroy();
    await closed;
  }

  private count(socket: Socket): void {
    this.sockets.add(socket);
    this.connections.opened();
    socket.on('error', () => socket.destroy());
    socket.once('close', () => {
      this.sockets.delete(socket);
      this.connections.closed();
      this.written += socket.bytesWritten;
    });
  }

  private serve(socket: Socket): void {
    let input = Buffer.alloc(0);
    const connection = this.connections.total;
    socket.on('error', () => socket.destroy());
    socket.on('data', (chunk) => {
      input = Buffer.concat([input, chunk]);
      const request = readRequest(input, connection);
      if (request === undefined) return;
      input = Buffer.alloc(0);
      this.requests.push(request);
      void answerFor(request.path)(socket, request, this.abort.signal);
    });
  }
}

/** Undefined until the request is complete. */
function readRequest(input: Buffer, connection: number): ReceivedRequest | undefined {
  const end = input.indexOf(END_OF_HEADER);
  if (end < 0) return undefined;
  const [line, ...fields] = input.subarray(0, end).toString('latin1').split('\r\n');
  const headers = Object.fromEntries(
    fields.map((field) => [
      field.split(':', 1)[0]!.toLowerCase(),
      field.slice(field.indexOf(':') + 1).trim(),
    ]),
  );
  const body = input.subarray(end + END_OF_HEADER.length);
  if (body.length < Number(headers['content-length'] ?? 0)) return undefined;
  const [method, path] = line!.split(' ');
  return { method: method!, path: path!, headers, body: Buffer.from(body), connection };
}

function answerFor(path: string): HostileAnswer {
  const [, kind, first, second] = path.split('/');
  if (kind === 'status') return statusAnswer(first!);
  if (kind === 'retry-after') return retryAfterAnswer(first!, decodeURIComponent(second!));
  if (kind === 'after') return lateAnswer(Number(first));
  return HOSTILE_ANSWERS[path] ?? HOSTILE_ANSWERS['/ok']!;
}
