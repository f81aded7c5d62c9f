import { once } from 'node:events';
import type { Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';

/** How much of what a client sent is remembered, so that a pattern is found across two packets. */
const REMEMBERED_BYTES = 4_096;

/** After the first bytes of a swallowed answer, the server may still be at the end of the work. */
const SETTLE_MS = 50;

/** A cut that waits for its bytes. */
export interface PlannedCut {
  readonly pattern: string | RegExp;
  readonly when: 'before' | 'after';
  done(): void;
}

/** One client's connection through a fault proxy. */
export class Channel {
  readonly client: Socket;
  readonly server: Socket;
  #seen = '';
  #swallowing = false;
  #frozen = false;

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
      to.on('drain', () => this.#frozen || from.resume());
    }
    server.on('data', (bytes) => this.#answer(bytes));
  }

  /** Passes a client's bytes on, unless a planned cut says otherwise. @returns the cut that was made */
  ask(bytes: Buffer, cuts: readonly PlannedCut[]): PlannedCut | undefined {
    this.#seen = (this.#seen + bytes.toString('latin1')).slice(-REMEMBERED_BYTES - bytes.length);
    const cut = cuts.find(({ pattern }) => matches(this.#seen, pattern));
    if (cut?.when === 'before') this.cut();
    else this.#forward(bytes, cut);
    return cut;
  }

  /** What was said until now is not what is to be cut. */
  forget(): void {
    this.#seen = '';
  }

  #forward(bytes: Buffer, cut: PlannedCut | undefined): void {
    if (!this.server.write(bytes)) this.client.pause();
    if (cut === undefined) return;
    this.#swallowing = true;
    void once(this.server, 'data')
      .then(() => sleep(SETTLE_MS))
      .catch(() => undefined)
      .then(() => {
        this.cut();
        cut.done();
      });
  }

  #answer(bytes: Buffer): void {
    if (!this.#swallowing && !this.client.write(bytes)) this.server.pause();
  }

  freeze(): void {
    this.#frozen = true;
    this.client.pause();
    this.server.pause();
  }

  thaw(): void {
    this.#frozen = false;
    this.client.resume();
    this.server.resume();
  }

  cut(): void {
    this.client.resetAndDestroy();
    this.server.resetAndDestroy();
  }
}

function matches(text: string, pattern: string | RegExp): boolean {
  return typeof pattern === 'string' ? text.includes(pattern) : pattern.test(text);
}
