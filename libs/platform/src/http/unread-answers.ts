import type { ServerResponse } from 'node:http';

/**
 * The answers that are said, and that the other side has not taken yet. They are no work, so they count as none; but they take memory.
 * Of more than there may be the oldest is given up: whoever reads takes theirs before so many others are answered.
 */
export class UnreadAnswers {
  private readonly unread = new Set<ServerResponse>();

  /** @param most how many there may be */
  constructor(private readonly most: number) {}

  /** An answer is said. */
  add(response: ServerResponse): void {
    if (response.closed) return;
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
