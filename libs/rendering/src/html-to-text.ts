import { RenderingThreads, type ThreadLimits, workerBeside } from './rendering-threads.ts';

/** Makes the text of an email out of its HTML, in threads of its own. */
export class HtmlToText {
  private readonly threads: RenderingThreads<string, string>;

  constructor(limits: ThreadLimits = {}) {
    const worker = workerBeside(import.meta.url, 'html-to-text.worker');
    this.threads = new RenderingThreads(worker, 'making the text from the HTML', limits);
  }

  /**
   * The readable text of `html`, with its links behind their words and pictures as their alternative text; what is
   * hidden is left out.
   *
   * @throws {@link RenderingFailed} when it takes too long, needs too much memory or cannot be done
   */
  async convert(html: string): Promise<string> {
    return (await this.threads.run(() => html))!;
  }

  /** Ends the threads; conversions under way or asked for later fail. */
  close(): Promise<void> {
    return this.threads.close();
  }
}
