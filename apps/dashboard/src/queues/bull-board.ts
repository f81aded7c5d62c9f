import { createBullBoard } from '@bull-board/api';
import { BullMQAdapter } from '@bull-board/api/bullMQAdapter';
import { ExpressAdapter } from '@bull-board/express';
import type { WatchedQueues } from '@posthorn/queues';
import type { RequestHandler } from 'express';

type Queues = NonNullable<WatchedQueues['queues']>;

export interface BoardOptions {
  /** Where it is mounted. */
  readonly path: string;
  /** Whether it only shows; its routes that change anything then refuse. */
  readonly isReadOnly: boolean;
}

/** Bull Board over all queues. */
export function createBoard(queues: Queues, { path, isReadOnly }: BoardOptions): RequestHandler {
  const server = new ExpressAdapter().setBasePath(path);
  createBullBoard({
    queues: queues.map((queue) => new BullMQAdapter(queue, { readOnlyMode: isReadOnly })),
    serverAdapter: server,
    options: { uiConfig: { boardTitle: 'Posthorn queues', hideRedisDetails: true } },
  });
  return server.getRouter() as RequestHandler;
}
