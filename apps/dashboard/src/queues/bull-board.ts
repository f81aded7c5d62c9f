import { createRequire } from 'node:module';
import { dirname } from 'node:path';
import { createBullBoard } from '@bull-board/api';
import { BullMQAdapter } from '@bull-board/api/bullMQAdapter';
import { ExpressAdapter } from '@bull-board/express';
import { Refusal } from '@posthorn/kernel';
import { isRedisOutage, jobBytes, type ReadOnlyQueues } from '@posthorn/queues';
import type { RequestHandler } from 'express';
import { embedInDashboard } from './board-page.ts';

/** Posthorn's jobs hold only ids. Larger ones come from elsewhere, and loading them could exhaust memory. */
const MAX_JOB_BYTES = 64 * 1024;
/** More than a page of the board shows; clients may ask for any number. */
const MAX_JOBS = 100;
const MAX_ID_CHARACTERS = 200;

type Queues = Awaited<ReturnType<ReadOnlyQueues['queues']>>;
type Queue = Queues[number];
type Job = NonNullable<Awaited<ReturnType<BullMQAdapter['getJob']>>>;
type Statuses = Parameters<BullMQAdapter['getJobs']>[0];
type EntryRoute = Parameters<ExpressAdapter['setEntryRoute']>[0];
type ErrorHandler = Parameters<ExpressAdapter['setErrorHandler']>[0];

const CANNOT_PAUSE =
  'Queues are not paused or slowed down here: nobody would be told, and workers that get no jobs are restarted as stuck. Pause emails and deliveries at `/pauses`, or with `posthorn pause`';

/** Where Bull Board's pages are. It would look for them itself with an `eval`, which finds nothing once it is bundled. */
const PAGES = dirname(createRequire(import.meta.url).resolve('@bull-board/ui/package.json'));

interface BoardOptions {
  /** The path that it is mounted at. */
  readonly path: string;
  /** Whether its routes that change anything refuse. */
  readonly isReadOnly: boolean;
}

/** Bull Board over all queues. */
export function createBoard(queues: Queues, { path, isReadOnly }: BoardOptions): RequestHandler {
  const server = new BoardServer().setBasePath(path);
  createBullBoard({
    queues: queues.map((queue) => new UnpausableQueue(queue, isReadOnly)),
    serverAdapter: server,
    options: { uiBasePath: PAGES, uiConfig: { boardTitle: 'Posthorn queues', hideRedisDetails: true } },
  });
  return server.getRouter() as RequestHandler;
}

/**
 * A queue that cannot be paused or slowed down, since that state would be in Redis only, where nobody looks for it; an existing limit may be
 * removed. Jobs larger than Posthorn's are not read.
 */
class UnpausableQueue extends BullMQAdapter {
  constructor(
    private readonly jobs: Queue,
    isReadOnly: boolean,
  ) {
    super(jobs, { readOnlyMode: isReadOnly });
  }

  override async getJob(id: string): Promise<Job | undefined> {
    const [bytes = 0] = await jobBytes(this.jobs, [id]);
    if (bytes > MAX_JOB_BYTES) throw this.unreadable(id, `takes ${bytes} bytes of Redis`);
    return super.getJob(id).catch((error: unknown) => {
      throw error instanceof SyntaxError ? this.unreadable(id, 'is not valid JSON') : error;
    });
  }

  override async getJobs(statuses: Statuses, start = 0, end = -1): Promise<Job[]> {
    const last = end < 0 ? end : Math.min(end, start + MAX_JOBS - 1);
    const ids = await this.jobs.getRanges(statuses as Parameters<Queue['getRanges']>[0], start, last);
    const jobs = await Promise.all(ids.map((id) => this.getJob(id)));
    return jobs.filter((job) => job !== undefined);
  }

  override pause(): Promise<never> {
    return Promise.reject(new Refusal(403, CANNOT_PAUSE));
  }

  override setConfiguredRateLimit(): Promise<never> {
    return Promise.reject(new Refusal(403, CANNOT_PAUSE));
  }

  override async setGlobalConcurrency(concurrency: number): Promise<void> {
    if (concurrency > 0) throw new Refusal(403, CANNOT_PAUSE);
    await super.setGlobalConcurrency(concurrency);
  }

  private unreadable(id: string, why: string): Refusal {
    const key = this.jobs.toKey(id.slice(0, MAX_ID_CHARACTERS));
    return new Refusal(
      403,
      `The job ${key} ${why}, so it is not one of Posthorn's; empty the queue, or delete the job in Redis: no email is lost`,
    );
  }
}

class BoardServer extends ExpressAdapter {
  /** Renders Bull Board's page with {@link embedInDashboard}. */
  override setEntryRoute(entry: EntryRoute): this {
    this.app[entry.method](entry.route, (_request, response, next) => {
      const { name, params } = entry.handler({ basePath: this.basePath, uiConfig: this.uiConfig });
      response.render(name, params, (error: Error | null, page: string) =>
        error === null ? response.send(embedInDashboard(page)) : next(error),
      );
    });
    return this;
  }

  /**
   * Gives our refusals the form of Bull Board's own. What Bull Board would answer with 500 is answered with 400 for a malformed path, and with 503 while Redis
   * is unavailable.
   */
  override setErrorHandler(handler: ErrorHandler): this {
    return super.setErrorHandler((fault) => {
      if (isRedisOutage(fault)) throw redisUnavailable();
      if (fault instanceof Refusal) return errorResponse(403, 'FORBIDDEN', fault.message);
      if (fault instanceof URIError)
        return errorResponse(400, 'INVALID_QUEUE', 'The name of the queue has a `%` that encodes nothing');
      return handler(fault);
    });
  }
}

/** The refusal to show the queues while Redis cannot be reached or does not answer. The connection logs the reason. */
export function redisUnavailable(): Refusal {
  return new Refusal(503, 'Redis cannot be reached right now; try again in a moment');
}

/** @param key of a text of Bull Board, which it shows above the message */
function errorResponse(status: 400 | 403, key: string, message: string): ReturnType<ErrorHandler> {
  return { status, body: { error: { key: `ERRORS.${key}` }, message } };
}
