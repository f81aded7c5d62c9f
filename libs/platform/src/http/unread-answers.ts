import type { ServerResponse } from 'node:http';

/** A connection whose answer nobody takes is ended when nothing has moved on it for so long. */
const SILENCE_MS = 120_000;

/**
 * The answers that are said, and that the other side has not taken yet. They are no work, so they count as none; but they take memory.
 * Of more than there may be the oldest is given up: whoever reads takes theirs before so many others are answered.
 */
export class UnreadAnswers {
  private readonly unread = new Set<ServerResponse>();

  /** @param most how many there may be */
  constructor(private readonly most: number) {}

  /** An answer is said, and not taken at once. */
  add(response: ServerResponse): void {
    if (response.closed) return;
    // Until the next request of this connection. For all of them it would cost each request some timers.
    response.req.socket.setTimeout(SILENCE_MS);
    this.unread.add(response);
    response.once('close', () => this.unread.delete(response));
    if (this.unread.size > this.most) this.giveUpOldest();
  }

  private giveUpOldest(): void {
    const [oldest] = this.unread;
    this.unread.delete(oldest!);
    oldest!.req.socket.destroy();
  }
}
