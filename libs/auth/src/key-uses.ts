import type { ApiKeyId, DatabaseClock } from '@posthorn/kernel';
import type { ApiKeyStore } from '@posthorn/database';

const FLUSH_EVERY_MS = 60_000;

interface KeyUsesOptions {
  readonly apiKeys: Pick<ApiKeyStore, 'noteUses'>;
  readonly clock: DatabaseClock;
  /** Called when a flush failed; it is retried with the next one. */
  readonly onError: (error: unknown) => void;
}

/**
 * When each key was last used. Buffered in memory and written once a minute by one statement for all keys, so that no request waits
 * for it or fails because of it. A process that is killed loses its buffer.
 */
export class KeyUses {
  private lastUses = new Map<ApiKeyId, number>();
  private flushing: Promise<void> = Promise.resolve();
  private readonly timer: NodeJS.Timeout;

  constructor(private readonly options: KeyUsesOptions) {
    this.timer = setInterval(() => void this.flush(), FLUSH_EVERY_MS).unref();
  }

  /** Notes that a key is used now. */
  note(apiKeyId: ApiKeyId): void {
    this.lastUses.set(apiKeyId, this.options.clock.nowMs());
  }

  /** Writes what was noted since the last flush; never rejects. */
  flush(): Promise<void> {
    this.flushing = this.flushing.then(() => this.write());
    return this.flushing;
  }

  /** Writes what is left and stops. */
  close(): Promise<void> {
    clearInterval(this.timer);
    return this.flush();
  }

  private async write(): Promise<void> {
    const uses = this.lastUses;
    if (uses.size === 0) return;
    this.lastUses = new Map();
    try {
      await this.options.apiKeys.noteUses([...uses].map(([apiKeyId, atMs]) => ({ apiKeyId, atMs })));
    } catch (error) {
      // Uses noted during the write are later, and win.
      this.lastUses = new Map([...uses, ...this.lastUses]);
      this.options.onError(error);
    }
  }
}
