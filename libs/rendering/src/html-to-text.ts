import { availableParallelism } from 'node:os';
import { Piscina } from 'piscina';
import { RenderingFailed } from './rendering-failed.ts';
import { Slots } from './slots.ts';

export interface HtmlToTextOptions {
  /** How long one conversion may take, the start of its thread included, before its thread is killed. Default: 5,000. */
  readonly deadlineMs?: number;
  /** How many conversions may run at once; further ones wait their turn. Default: the machine's cores, at most 4. */
  readonly maxThreads?: number;
  /** How much memory the JavaScript of one thread may hold, in MiB. Default: 256. */
  readonly maxHeapMb?: number;
}

/** An idle thread is kept this long, because starting one costs more than most conversions. */
const IDLE_MS = 60_000;

/**
 * Node ends a thread that reaches its memory limit gently, with 16 MiB to spare; a thread that takes more than those
 * at one stroke takes the whole process with it. Moving a young generation of the default size (48) into the old one
 * is such a stroke: 5 MiB of `<b>x</b>` did it.
 */
const YOUNG_GENERATION_MB = 8;

// Node runs the source as it is; the build has put JavaScript beside this file.
const WORKER = new URL(
  `./html-to-text.worker${import.meta.url.endsWith('.ts') ? '.ts' : '.js'}`,
  import.meta.url,
);

/**
 * Makes the text of an email out of its HTML, in threads of its own: HTML comes from outside, and what takes for ever
 * or fills the memory must harm nobody else. The first conversion starts the first thread; an idle thread keeps no
 * process alive.
 */
export class HtmlToText {
  private readonly deadlineMs: number;
  private readonly maxThreads: number;
  private readonly maxHeapMb: number;
  private readonly slots: Slots;
  private pool: Piscina<string, string> | undefined;
  private closed = false;

  constructor(options: HtmlToTextOptions = {}) {
    this.deadlineMs = options.deadlineMs ?? 5_000;
    this.maxThreads = options.maxThreads ?? Math.min(availableParallelism(), 4);
    this.maxHeapMb = options.maxHeapMb ?? 256;
    this.slots = new Slots(this.maxThreads);
  }

  /**
   * The readable text of `html`, with its links behind their words and pictures as their alternative text; what is
   * hidden is left out. The deadline counts from the moment when a thread is free, so nobody pays for who came before.
   *
   * @throws {@link RenderingFailed} when it takes too long, needs too much memory or cannot be done
   */
  async convert(html: string): Promise<string> {
    const release = await this.slots.take();
    try {
      return await this.run(html);
    } finally {
      release();
    }
  }

  /** Ends the threads; conversions under way or asked for later fail. */
  async close(): Promise<void> {
    this.closed = true;
    await this.pool?.destroy();
  }

  private async run(html: string): Promise<string> {
    if (this.closed) throw new RenderingFailed('crash', 'the threads that make texts have been closed');
    this.pool ??= this.newPool();
    const deadline = new AbortController();
    // Not AbortSignal.timeout: its timer would let the process end while somebody waits for the text.
    const timer = setTimeout(() => deadline.abort(), this.deadlineMs);
    try {
      return await this.pool.run(html, { signal: deadline.signal });
    } catch (error) {
      throw this.failure(error, deadline.signal.aborted);
    } finally {
      clearTimeout(timer);
    }
  }

  private failure(error: unknown, timedOut: boolean): RenderingFailed {
    if (timedOut) {
      const message = `the text was not made from the HTML within ${this.deadlineMs} ms`;
      return new RenderingFailed('deadline', message, { cause: error });
    }
    const { code, message: detail = String(error) } = Object(error) as Partial<NodeJS.ErrnoException>;
    if (code === 'ERR_WORKER_OUT_OF_MEMORY') {
      const message = `making the text from the HTML needs more than ${this.maxHeapMb} MiB of memory`;
      return new RenderingFailed('memory', message, { cause: error });
    }
    return new RenderingFailed('crash', `the text could not be made from the HTML: ${detail}`, {
      cause: error,
    });
  }

  private newPool(): Piscina<string, string> {
    const pool = new Piscina<string, string>({
      filename: WORKER.href,
      minThreads: 0,
      maxThreads: this.maxThreads,
      idleTimeout: IDLE_MS,
      resourceLimits: {
        maxOldGenerationSizeMb: this.maxHeapMb,
        maxYoungGenerationSizeMb: YOUNG_GENERATION_MB,
      },
    });
    // A thread that fails between two conversions is replaced; unheard, its error would end the process.
    pool.on('error', () => undefined);
    return pool;
  }
}
