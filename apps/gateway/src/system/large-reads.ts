import { FairConcurrencyLimit, Refusal, type WorkspaceId } from '@posthorn/kernel';

/** More may wait than one key may send at once. */
const READS = {
  maxConcurrent: 4,
  maxWaiting: 250,
  refusal: () => new Refusal(503, 'Too many large answers are being read; try again in a moment'),
};

/**
 * Reads whose answers can take megabytes: a template, a delivery, and pages of contacts and events. A workspace gets one at a time, because a hundred of its requests at
 * once took all connections to the database, and everybody else waited for seconds.
 */
export class LargeReads {
  private readonly reads = new FairConcurrencyLimit<WorkspaceId>(READS);

  /**
   * @param gone aborted when the caller has disconnected: a read that would have to wait is refused then
   * @throws Refusal 503 when too many are waiting; whatever `read` throws
   */
  run<Result>(workspaceId: WorkspaceId, read: () => Promise<Result>, gone: AbortSignal): Promise<Result> {
    return this.reads.run(workspaceId, read, gone);
  }
}
