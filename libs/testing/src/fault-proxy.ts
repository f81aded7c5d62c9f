import { once } from 'node:events';
import { connect, createServer, type Server, type Socket } from 'node:net';
import { Channel, type PlannedCut } from './fault-channel.ts';
import { freePort } from './stack.ts';

/** A COMMIT as Postgres is sent it. Without its end, `READ COMMITTED` would be one too. */
export const COMMIT_SENT = 'COMMIT\0';

/** Stands between a client and a server (Postgres, Redis, SMTP) and breaks the line in the ways that lines break. */
export class FaultProxy {
  #target: { host: string; port: number };
  readonly #port: number;
  readonly #channels = new Set<Channel>();
  readonly #waiting = new Set<Socket>();
  #cuts: PlannedCut[] = [];
  #server: Server | undefined;
  #frozen = false;

  private constructor(target: { host: string; port: number }, port: number) {
    this.#target = target;
    this.#port = port;
  }

  /** @param url the server behind it, e.g. a database URL */
  static async before(url: string): Promise<FaultProxy> {
    const proxy = new FaultProxy(targetOf(url), await freePort());
    await proxy.#listen();
    return proxy;
  }

  get port(): number {
    return this.#port;
  }

  /** How many connections are open through it. */
  get connections(): number {
    return this.#channels.size;
  }

  /** The same URL, by way of this proxy. */
  urlFor(url: string): string {
    const through = new URL(url);
    through.hostname = '127.0.0.1';
    through.port = String(this.#port);
    return through.href;
  }

  async #listen(): Promise<void> {
    const server = createServer({ allowHalfOpen: true }, (client) => this.#accept(client));
    server.listen(this.#port, '127.0.0.1');
    await once(server, 'listening');
    this.#server = server;
  }

  #accept(client: Socket): void {
    client.on('error', () => undefined);
    if (this.#frozen) {
      this.#waiting.add(client.pause());
      return;
    }
    const server = connect({ ...this.#target, allowHalfOpen: true });
    const channel = new Channel(client, server);
    this.#channels.add(channel);
    client.once('close', () => this.#channels.delete(channel));
    client.on('data', (bytes) => this.#ask(channel, bytes));
  }

  #ask(channel: Channel, bytes: Buffer): void {
    const made = channel.ask(bytes, this.#cuts);
    if (made === undefined) return;
    this.#cuts = this.#cuts.filter((cut) => cut !== made);
    if (made.when === 'before') made.done();
  }

  /** New connections lead to this server from now on, as a name does after a failover; those that are open stay where they are. */
  leadTo(url: string): void {
    this.#target = targetOf(url);
  }

  /** Nobody listens any more, and what was open is cut. */
  async refuse(): Promise<void> {
    const server = this.#server;
    this.#server = undefined;
    server?.close();
    this.cutAll();
    if (server !== undefined) await once(server, 'close');
  }

  /** Everything stays open, new connections too, and nothing moves. */
  freeze(): void {
    this.#frozen = true;
    for (const channel of this.#channels) channel.freeze();
  }

  /** Connections that are open stay open, and nothing moves on them any more, as after a firewall forgot them; new ones are welcome. */
  strand(): void {
    for (const channel of this.#channels) channel.freeze();
  }

  /** Takes every fault away; what was frozen moves on. */
  async heal(): Promise<void> {
    this.#cuts = [];
    this.#frozen = false;
    if (this.#server === undefined) await this.#listen();
    for (const channel of this.#channels) channel.thaw();
    const waiting = [...this.#waiting];
    this.#waiting.clear();
    for (const client of waiting) this.#accept(client.resume());
  }

  /** Resets every connection; new ones are welcome. */
  cutAll(): void {
    for (const channel of this.#channels) channel.cut();
    this.#channels.clear();
    for (const client of this.#waiting) client.resetAndDestroy();
    this.#waiting.clear();
  }

  /**
   * The next client that sends these bytes is heard by the server, and cut off before it hears the answer.
   *
   * @param pattern e.g. {@link COMMIT_SENT}, or `\r\n.\r\n` for the end of a mail
   * @returns resolves when it has happened
   */
  cutAfter(pattern: string | RegExp): Promise<void> {
    return this.#plan(pattern, 'after');
  }

  /** The next client that sends these bytes is cut off before the server hears them. */
  cutBefore(pattern: string | RegExp): Promise<void> {
    return this.#plan(pattern, 'before');
  }

  #plan(pattern: string | RegExp, when: PlannedCut['when']): Promise<void> {
    for (const channel of this.#channels) channel.forget();
    return new Promise((done) => this.#cuts.push({ pattern, when, done }));
  }

  /** Cuts everything and stops listening for good. */
  async close(): Promise<void> {
    await this.refuse();
  }
}

function targetOf(url: string): { host: string; port: number } {
  const { hostname, port } = new URL(url);
  return { host: hostname, port: Number(port) };
}
