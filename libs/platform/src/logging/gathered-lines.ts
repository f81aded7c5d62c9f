import type { DestinationStream } from 'pino';

/** Each write is handed to another thread, which costs more than a line does. */
const MAX_CHARACTERS = 16_000;
/** No line waits longer for others. */
const GATHERED_MS = 20;

/** Where lines go in the end. */
export interface LineSink extends DestinationStream {
  /** Writes what it has been given, at once. */
  flushSync(): void;
}

/** Writes lines that come one soon after the other together; what is left when the process exits is written then. */
export class GatheredLines implements DestinationStream {
  private lines = '';
  private timer: NodeJS.Timeout | undefined;

  constructor(private readonly sink: LineSink) {
    process.once('exit', () => this.flushSync());
  }

  write(line: string): void {
    this.lines += line;
    if (this.lines.length >= MAX_CHARACTERS) this.flush();
    else this.timer ??= setTimeout(() => this.flush(), GATHERED_MS);
  }

  flush(): void {
    clearTimeout(this.timer);
    this.timer = undefined;
    const { lines } = this;
    this.lines = '';
    if (lines !== '') this.sink.write(lines);
  }

  flushSync(): void {
    this.flush();
    this.sink.flushSync();
  }
}
