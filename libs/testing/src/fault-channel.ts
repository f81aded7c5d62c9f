import { once } from 'node:events';
import type { Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { resetSocket } from './reset-socket.ts';

/** How many of the last bytes of a client are kept, so that a pattern is found across packets. */
const REMEMBERED_BYTES = 4_096;

/** How long the server gets to finish its work after the first bytes of an answer that is dropped. */
const SETTLE_MS = 50;

/** What a frozen connection does not forward: the bytes of its client, those of the server, or both. */
export type Frozen = 'requests' | 'answers' | 'both';

/** A cut, or a freeze, that happens once a client has sent bytes that match. */
export interface PlannedCut {
  readonly pattern: string | RegExp;
  /** Whether the server receives these bytes. */
  readonly when: 'before' | 'after';
  /** Whether the connection is frozen instead of reset. */
  readonly freezes: boolean;
  done(): void;
}

/** One client's connection through a fault proxy. */
export class Channel {
  readonly client: Socket;
  readonly server: Socket;
  #seen = '';
  #dropsAnswer = false;
  /** Sockets whose bytes are not forwarded. */
  readonly #frozen = new Set<Socket>();

  constructor(client: Socket, server: Socket) {
    this.client = client;
    this.server = server;
    for (const [from, to] of [
      [client, server],
      [server, client],
    ] as const) {
      from.setNoDelay(true);
      from.on('error', () => this.cut());
      from.on('end', () => to.end());
      from.on('close', () => to.destroy());
      to.on('drain', () => this.#frozen.has(from) || from.resume());
    }
    server.on('data', (bytes) => this.#forwardToClient(bytes));
  }

  /** Forwards a client's bytes to the server, or makes the planned cut that they match. @returns that cut */
  forwardToServer(bytes: Buffer, cuts: readonly PlannedCut[]): PlannedCut | undefined {
    this.#seen = (this.#seen + bytes.toString('latin1')).slice(-REMEMBERED_BYTES - bytes.length);
    const cut = cuts.find(({ pattern }) => matches(this.#seen, pattern));
    if (cut?.freezes === true) this.#hold(bytes, cut);
    else if (cut?.when === 'before') this.cut();
    else this.#forward(bytes, cut);
    return cut;
  }

  /** Forgets the bytes seen so far, so that a new cut does not match them. */
  forgetSeen(): void {
    this.#seen = '';
  }

  #hold(bytes: Buffer, { when }: PlannedCut): void {
    this.freeze();
    if (when === 'after') this.server.write(bytes);
    else this.client.unshift(bytes);
  }

  #forward(bytes: Buffer, cut: PlannedCut | undefined): void {
    if (!this.server.write(bytes)) this.client.pause();
    if (cut === undefined) return;
    this.#dropsAnswer = true;
    void once(this.server, 'data')
      .then(() => sleep(SETTLE_MS))
      .catch(() => undefined)
      .then(() => {
        this.cut();
        cut.done();
      });
  }

  #forwardToClient(bytes: Buffer): void {
    if (!this.#dropsAnswer && !this.client.write(bytes)) this.server.pause();
  }

  freeze(what: Frozen = 'both'): void {
    if (what !== 'answers') this.#frozen.add(this.client.pause());
    if (what !== 'requests') this.#frozen.add(this.server.pause());
  }

  thaw(): void {
    this.#frozen.clear();
    this.client.resume();
    this.server.resume();
  }

  cut(): void {
    resetSocket(this.client);
    resetSocket(this.server);
  }
}

function matches(text: string, pattern: string | RegExp): boolean {
  return typeof pattern === 'string' ? text.includes(pattern) : pattern.test(text);
}
