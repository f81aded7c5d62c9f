import type { ServerResponse } from 'node:http';
import type { InFlightLimits } from '../requests/in-flight.ts';

/** A connection with an unread answer is closed after this long without progress. */
const SILENCE_MS = 120_000;

/**
 * The answers that were written and that the client has not read yet. They do not count as requests in flight, but they take memory. If there
 * are too many, the oldest is given up: a client that reads at all has read its answer before that many others are written.
 */
export class UnreadAnswers {
  /** The unread bytes of each response when last checked. */
  private readonly unread = new Map<ServerResponse, number>();
  private bytes = 0;

  /** @param limits as many answers may be unread as requests in flight */
  constructor(private readonly limits: InFlightLimits) {}

  /** Adds an answer that was written, and not read at once. */
  add(response: ServerResponse): void {
    if (response.closed) return;
    // Until the next request of this connection. For all of them it would cost each request some timers.
    response.req.socket.setTimeout(SILENCE_MS);
    this.note(response);
    response.once('close', () => this.forget(response));
    if (this.areTooMany()) for (const each of this.unread.keys()) this.note(each);
    while (this.areTooMany()) this.giveUpOldest();
  }

  private note(response: ServerResponse): void {
    const bytes = response.writableLength;
    this.bytes += bytes - (this.unread.get(response) ?? 0);
    this.unread.set(response, bytes);
  }

  /** The newest is never given up: it may be the only one. */
  private areTooMany(): boolean {
    const { maxRequests, maxBytes } = this.limits;
    return this.unread.size > 1 && (this.unread.size > maxRequests || this.bytes > maxBytes);
  }

  private forget(response: ServerResponse): void {
    this.bytes -= this.unread.get(response) ?? 0;
    this.unread.delete(response);
  }

  private giveUpOldest(): void {
    const [oldest] = this.unread.keys();
    this.forget(oldest!);
    oldest!.req.socket.destroy();
  }
}
