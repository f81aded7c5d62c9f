import { workerUrl } from '@posthorn/kernel';
import { RenderingThreads, type ThreadOptions } from './rendering-threads.ts';
import { Quarantine } from './quarantine.ts';

const WORK = 'making the text from the HTML';
/** In characters. Longer HTML can need fifty times its length, the whole memory limit of a thread, so at most one of these is converted at a time. */
const MAX_CHARACTERS_IN_PARALLEL = 524_288;
/** Long, because emails like the one that failed may follow, and are retried. */
const QUARANTINE_MS = 600_000;

/**
 * Converts the HTML of an email to text, in threads of its own. 40 kB of nested HTML can exceed the deadline, so an owner that has killed a
 * thread is quarantined for ten minutes, one conversion at a time, and the other threads stay free. Large HTML is converted in a separate
 * thread, one at a time.
 */
export class HtmlToText {
  private readonly threads: RenderingThreads<string, string>;
  private readonly threadForLarge: RenderingThreads<string, string>;
  private readonly quarantine = new Quarantine(WORK, QUARANTINE_MS);

  constructor(options: ThreadOptions = {}) {
    const worker = workerUrl(import.meta.url, 'html-to-text.worker');
    this.threads = new RenderingThreads(worker, WORK, options);
    this.threadForLarge = new RenderingThreads(worker, WORK, { ...options, maxThreads: 1 });
  }

  /**
   * The readable text of `html`: URLs follow the text of their links, images become their alternative text, and hidden content is
   * left out.
   *
   * @param owner whose HTML it is, such as a workspace's id; it is held responsible for what the HTML does to the threads
   * @throws {@link RenderingFailed} when it exceeds the time or memory limit or fails, or (`busy`) when too many quarantined ones are waiting
   */
  convert(html: string, owner: string): Promise<string> {
    const isLarge = html.length > MAX_CHARACTERS_IN_PARALLEL;
    return this.quarantine.run(isLarge ? this.threadForLarge : this.threads, html, owner);
  }

  /** Terminates the threads; current and later conversions fail. */
  async close(): Promise<void> {
    await Promise.all([this.threads.close(), this.threadForLarge.close()]);
  }
}
