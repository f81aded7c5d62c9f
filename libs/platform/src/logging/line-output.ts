import { write, writeSync } from 'node:fs';
import { sleep } from '@posthorn/kernel';
import type { LineSink } from './line-buffer.ts';

/** The maximum size of the backlog: some 30,000 lines. */
const MAX_WAITING_CHARACTERS = 8 * 1024 * 1024;
const RETRY_AFTER_MS = 10;
/** How long writing the backlog may take at exit; an output that has been stalled for longer is not waited for. */
const EXIT_FLUSH_MS = 1_000;

const ASLEEP = new Int32Array(new SharedArrayBuffer(4));

/**
 * Writes lines to a file, a pipe or a terminal. Nothing waits for the log: lines that do not fit on a full disk, or that a stalled collector does not
 * read, are lost and counted, and the process goes on.
 */
export class LineOutput implements LineSink {
  private waiting = '';
  private lost = 0;
  /** Since when the current write has made no progress; undefined: nothing is being written. */
  private writingSinceMs: number | undefined;

  /**
   * @param fd the file descriptor to write to
   * @param onLost called with the number of lost lines, once writing works again
   */
  constructor(
    private readonly fd: number,
    private readonly onLost: (lines: number) => void,
    private readonly maxWaiting: number = MAX_WAITING_CHARACTERS,
  ) {}

  write(lines: string): void {
    if (this.waiting.length + lines.length > this.maxWaiting) this.lost += countLines(lines);
    else this.waiting += lines;
    if (this.writingSinceMs === undefined) void this.writeAll();
  }

  /** A write that another thread has begun may end after the rest; that is harmless, because each line has its time. */
  flushSync(): void {
    const until = performance.now() + EXIT_FLUSH_MS;
    // A write to a stalled output might not return.
    if (this.writingSinceMs !== undefined && performance.now() - this.writingSinceMs > EXIT_FLUSH_MS) return;
    let rest = Buffer.from(this.waiting);
    this.waiting = '';
    while (rest.length > 0 && performance.now() < until) {
      try {
        rest = rest.subarray(writeSync(this.fd, rest));
      } catch (error) {
        if (!isBusy(error)) return;
        Atomics.wait(ASLEEP, 0, 0, RETRY_AFTER_MS);
      }
    }
  }

  private async writeAll(): Promise<void> {
    while (this.waiting !== '') {
      const lines = this.waiting;
      this.waiting = '';
      if (await this.writeWhole(Buffer.from(lines))) this.reportLost();
      else this.lost += countLines(lines);
    }
    this.writingSinceMs = undefined;
  }

  /** @returns whether all of it was taken */
  private async writeWhole(bytes: Buffer): Promise<boolean> {
    for (let rest = bytes; rest.length > 0;) {
      this.writingSinceMs ??= performance.now();
      const { error, written } = await this.writeOnce(rest);
      if (isBusy(error)) await sleep(RETRY_AFTER_MS);
      else if (error) return false;
      else {
        rest = rest.subarray(written);
        this.writingSinceMs = performance.now();
      }
    }
    return true;
  }

  private writeOnce(bytes: Buffer): Promise<{ error: unknown; written: number }> {
    return new Promise((resolve) => {
      write(this.fd, bytes, (error, written) => resolve({ error, written }));
    });
  }

  private reportLost(): void {
    if (this.lost === 0) return;
    const { lost } = this;
    this.lost = 0;
    this.onLost(lost);
  }
}

function countLines(lines: string): number {
  return lines.split('\n').length - 1;
}

function isBusy(error: unknown): boolean {
  return (error as NodeJS.ErrnoException | null)?.code === 'EAGAIN';
}
