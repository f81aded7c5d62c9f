import { once } from 'node:events';
import { connect, createServer, type Server, type Socket } from 'node:net';
import { Channel, type Frozen, type PlannedCut } from './fault-channel.ts';
import { freePort } from './stack.ts';
import { resetSocket } from './reset-socket.ts';

/** A COMMIT in the protocol of Postgres. The final NUL keeps `READ COMMITTED` from matching. */
export const COMMIT_SENT = 'COMMIT\0';

/** A TCP proxy between clients and a server (Postgres, Redis, SMTP) that refuses, cuts, freezes or redirects connections. */
export class FaultProxy {
  #target: { host: string; port: number };
  readonly port: number;
  readonly #channels = new Set<Channel>();
  readonly #waiting = new Set<Socket>();
  #cuts: PlannedCut[] = [];
  #server: Server | undefined;
  /** What no connection forwards. */
  #frozen: Frozen | undefined;

  private constructor(target: { host: string; port: number }, port: number) {
    this.#target = target;
    this.port = port;
  }

  /** Starts a proxy. @param url the server behind it, e.g. a database URL */
  static async before(url: string): Promise<FaultProxy> {
    const proxy = new FaultProxy(targetOf(url), await freePort());
    await proxy.#listen();
    return proxy;
  }

  /** How many connections are open through it. */
  get connections(): number {
    return this.#channels.size;
  }

  /** The same URL, through this proxy. */
  urlFor(url: string): string {
    const through = new URL(url);
    through.hostname = '127.0.0.1';
    through.port = String(this.port);
    return through.href;
  }

  async #listen(): Promise<void> {
    const server = createServer({ allowHalfOpen: true }, (client) => this.#accept(client));
    server.listen(this.port, '127.0.0.1');
    await once(server, 'listening');
    this.#server = server;
  }

  #accept(client: Socket): void {
    client.on('error', () => undefined);
    if (this.#frozen === 'both') {
      this.#waiting.add(client.pause());
      return;
    }
    const server = connect({ ...this.#target, allowHalfOpen: true });
    const channel = new Channel(client, server);
    this.#channels.add(channel);
    client.once('close', () => this.#channels.delete(channel));
    client.on('data', (bytes) => this.#forward(channel, bytes));
    if (this.#frozen !== undefined) channel.freeze(this.#frozen);
  }

  #forward(channel: Channel, bytes: Buffer): void {
    const made = channel.forwardToServer(bytes, this.#cuts);
    if (made === undefined) return;
    this.#cuts = this.#cuts.filter((cut) => cut !== made);
    if (made.when === 'before' || made.freezes) made.done();
  }

  /** Connects new clients to this server from now on, like a DNS name after a failover; open connections stay as they are. */
  redirectTo(url: string): void {
    this.#target = targetOf(url);
  }

  /** Stops listening, and resets every open connection. */
  async refuse(): Promise<void> {
    const server = this.#server;
    this.#server = undefined;
    server?.close();
    this.cutAll();
    if (server !== undefined) await once(server, 'close');
  }

  /** Forwards nothing any more, or only in one direction; all connections stay open, and new ones are accepted. */
  freeze(what: Frozen = 'both'): void {
    this.#frozen = what;
    for (const channel of this.#channels) channel.freeze(what);
  }

  /** Forwards nothing on the connections that are open now, like a firewall that has forgotten them; new ones work. */
  freezeOpenConnections(): void {
    for (const channel of this.#channels) channel.freeze();
  }

  /** Ends every fault; frozen connections go on. */
  async heal(): Promise<void> {
    this.#cuts = [];
    this.#frozen = undefined;
    if (this.#server === undefined) await this.#listen();
    for (const channel of this.#channels) channel.thaw();
    const waiting = [...this.#waiting];
    this.#waiting.clear();
    for (const client of waiting) this.#accept(client.resume());
  }

  /** Resets every connection; new ones work. */
  cutAll(): void {
    for (const channel of this.#channels) channel.cut();
    this.#channels.clear();
    for (const client of this.#waiting) resetSocket(client);
    this.#waiting.clear();
  }

  /**
   * Lets the server receive these bytes of the next client that sends them, and resets the connection before the answer is delivered.
   *
   * @param pattern e.g. {@link COMMIT_SENT}, or `\r\n.\r\n` for the end of a mail
   * @returns resolves once the connection was reset
   */
  cutAfter(pattern: string | RegExp): Promise<void> {
    return this.#plan(pattern, 'after');
  }

  /** Resets the connection of the next client that sends these bytes, before the server receives them. */
  cutBefore(pattern: string | RegExp): Promise<void> {
    return this.#plan(pattern, 'before');
  }

  /**
   * Freezes the connection of the next client that sends these bytes: before the server receives them, or after it.
   *
   * @returns resolves once it is frozen
   */
  freezeAt(pattern: string | RegExp, when: PlannedCut['when']): Promise<void> {
    return this.#plan(pattern, when, true);
  }

  #plan(pattern: string | RegExp, when: PlannedCut['when'], freezes = false): Promise<void> {
    for (const channel of this.#channels) channel.forgetSeen();
    return new Promise((done) => this.#cuts.push({ pattern, when, freezes, done }));
  }

  /** Resets every connection and stops listening. */
  async close(): Promise<void> {
    await this.refuse();
  }
}

function targetOf(url: string): { host: string; port: number } {
  const { hostname, port } = new URL(url);
  return { host: hostname, port: Number(port) };
}
