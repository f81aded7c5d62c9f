import { workerUrl } from '@posthorn/kernel';
import { RenderingThreads, type ThreadOptions } from '../rendering-threads.ts';
import { findLinks, type TrackingPositions } from './find-links.ts';

/** Shorter HTML is searched in less time than passing it to a thread takes; longer HTML would block the event loop. */
const MAX_CHARACTERS_ON_MAIN_THREAD = 65_536;

/** Finds the links of emails; those of large ones in threads of its own. */
export class LinkFinder {
  private readonly threads: RenderingThreads<string, TrackingPositions>;

  constructor(options: ThreadOptions = {}) {
    const worker = workerUrl(import.meta.url, 'find-links.worker');
    this.threads = new RenderingThreads(worker, 'finding the links of the HTML', options);
  }

  /**
   * The positions in `html` at which tracking is inserted.
   *
   * @param owner whose HTML it is, such as a workspace's id; owners get threads round robin
   * @throws {@link RenderingFailed} when it exceeds the time or memory limit
   */
  async find(html: string, owner: string): Promise<TrackingPositions> {
    if (html.length <= MAX_CHARACTERS_ON_MAIN_THREAD) return findLinks(html);
    return (await this.threads.run(owner, () => html))!;
  }

  /** Terminates the threads; current and later searches fail. */
  close(): Promise<void> {
    return this.threads.close();
  }
}
