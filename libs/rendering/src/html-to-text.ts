import { workerUrl } from '@posthorn/kernel';
import { RenderingThreads, type ThreadLimits } from './rendering-threads.ts';
import { Quarantine } from './quarantine.ts';

const WORK = 'making the text from the HTML';
/** In characters. Longer HTML can need fifty times its length, which is all that a thread may have: it gets one thread for all of it. */
const MAX_CHARACTERS_IN_PARALLEL = 524_288;
/** The emails of an owner may come by the dozen, and come again. */
const SUSPECTED_MS = 600_000;

/**
 * Makes the text of an email out of its HTML, in threads of its own. 40 kB can be nested so that they take a thread all of its time, so
 * whoever cost a thread its life has one conversion under way at a time from then on, for ten minutes; others keep the other threads. Large HTML has
 * a thread of its own, one at a time.
 */
export class HtmlToText {
  private readonly threads: RenderingThreads<string, string>;
  private readonly threadForLarge: RenderingThreads<string, string>;
  private readonly quarantine = new Quarantine(WORK, SUSPECTED_MS);

  constructor(limits: ThreadLimits = {}) {
    const worker = workerUrl(import.meta.url, 'html-to-text.worker');
    this.threads = new RenderingThreads(worker, WORK, limits);
    this.threadForLarge = new RenderingThreads(worker, WORK, { ...limits, maxThreads: 1 });
  }

  /**
   * The readable text of `html`, with its links behind their words and pictures as their alternative text; what is
   * hidden is left out.
   *
   * @param owner whose it is, such as a workspace's id: what it does to the threads is laid to its charge
   * @throws {@link RenderingFailed} when it takes too long, needs too much memory or cannot be done, or was not begun because
   *   too many wait whose owners are suspected
   */
  convert(html: string, owner: string): Promise<string> {
    const isLarge = html.length > MAX_CHARACTERS_IN_PARALLEL;
    return this.quarantine.run(isLarge ? this.threadForLarge : this.threads, html, owner);
  }

  /** Ends the threads; conversions under way or asked for later fail. */
  async close(): Promise<void> {
    await Promise.all([this.threads.close(), this.threadForLarge.close()]);
  }
}
