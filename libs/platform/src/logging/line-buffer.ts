import type { DestinationStream } from 'pino';

/** Lines are written together, because each write goes to another thread, which costs more than a line. */
const MAX_CHARACTERS = 16_000;
/** The maximum time that a line waits for others. */
const MAX_DELAY_MS = 20;

/** The destination of a line buffer. */
export interface LineSink extends DestinationStream {
  /** Writes what it has been given, synchronously. */
  flushSync(): void;
}

/** Batches lines that follow each other quickly; the rest is written when the process exits. */
export class LineBuffer implements DestinationStream {
  private lines = '';
  private timer: NodeJS.Timeout | undefined;

  constructor(private readonly sink: LineSink) {
    process.once('exit', () => this.flushSync());
  }

  write(line: string): void {
    this.lines += line;
    if (this.lines.length >= MAX_CHARACTERS) this.flush();
    else this.timer ??= setTimeout(() => this.flush(), MAX_DELAY_MS);
  }

  flush(): void {
    clearTimeout(this.timer);
    this.timer = undefined;
    const { lines } = this;
    this.lines = '';
    this.sink.write(lines);
  }

  flushSync(): void {
    this.flush();
    this.sink.flushSync();
  }
}
