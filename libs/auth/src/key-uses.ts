import type { ApiKeyId, DatabaseClock } from '@posthorn/kernel';
import type { ApiKeyStore } from '@posthorn/database';

const FLUSHED_EVERY_MS = 60_000;

export interface KeyUsesOptions {
  readonly apiKeys: Pick<ApiKeyStore, 'noteUses'>;
  readonly clock: DatabaseClock;
  /** Told when the notes could not be written; they are tried again with the next ones. */
  readonly onError: (error: unknown) => void;
}

/**
 * When each key was last used. Noted in memory and written once a minute by one statement for all keys, so that no request waits
 * for it or fails because of it; what a process that is killed had noted is lost.
 */
export class KeyUses {
  private lastUses = new Map<ApiKeyId, number>();
  private flushing: Promise<void> = Promise.resolve();
  private readonly timer: NodeJS.Timeout;

  constructor(private readonly options: KeyUsesOptions) {
    this.timer = setInterval(() => void this.flush(), FLUSHED_EVERY_MS).unref();
  }

  /** A request carried this key just now. */
  note(apiKeyId: ApiKeyId): void {
    this.lastUses.set(apiKeyId, this.options.clock.nowMs());
  }

  /** Writes what was noted since the last time; never rejects. */
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
      // What was noted meanwhile is later, and wins.
      this.lastUses = new Map([...uses, ...this.lastUses]);
      this.options.onError(error);
    }
  }
}
