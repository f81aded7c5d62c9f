import { workerUrl } from '@posthorn/kernel';
import { RenderingThreads, type ThreadLimits } from '../rendering-threads.ts';
import { findLinks, type TrackablePlaces } from './find-links.ts';

/** What is shorter is searched in less time than handing it to a thread takes; what is longer would hold up everybody else. */
const MAX_CHARACTERS_ON_MAIN_THREAD = 65_536;

/** Finds the links of emails; of large ones in threads of its own. */
export class LinkFinder {
  private readonly threads: RenderingThreads<string, TrackablePlaces>;

  constructor(limits: ThreadLimits = {}) {
    const worker = workerUrl(import.meta.url, 'find-links.worker');
    this.threads = new RenderingThreads(worker, 'finding the links of the HTML', limits);
  }

  /**
   * Where `html` can be changed so that its reader is noticed.
   *
   * @param owner whose it is, such as a workspace's id: those that wait for a thread get one in turn
   * @throws {@link RenderingFailed} when it takes too long or needs too much memory
   */
  async find(html: string, owner: string): Promise<TrackablePlaces> {
    if (html.length <= MAX_CHARACTERS_ON_MAIN_THREAD) return findLinks(html);
    return (await this.threads.run(owner, () => html))!;
  }

  /** Ends the threads; searches under way or asked for later fail. */
  close(): Promise<void> {
    return this.threads.close();
  }
}
