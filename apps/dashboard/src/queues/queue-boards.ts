import type { OperatorRole } from '@posthorn/domain';
import type { ReadOnlyQueues } from '@posthorn/queues';
import type { RequestHandler } from 'express';
import { accountOf } from '../sign-in/session-guard.ts';
import { createBoard, redisUnavailable } from './bull-board.ts';

/** Allows Bull Board's own scripts and inline styles, and nothing from other hosts. */
const POLICY =
  "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; font-src 'self'; connect-src 'self'; " +
  "base-uri 'self'; form-action 'none'; frame-ancestors 'none'";

/** Bull Board, by role: read-only for viewers; operators may also retry, promote and remove jobs. */
export function queueBoards(readOnlyQueues: Pick<ReadOnlyQueues, 'queues'>, path: string): RequestHandler {
  const boards = new Map<OperatorRole, RequestHandler>();
  return async (request, response, next) => {
    const queues = await readOnlyQueues.queues().catch(() => {
      throw redisUnavailable();
    });
    const { role } = accountOf(request);
    const board = boards.get(role) ?? createBoard(queues, { path, isReadOnly: role !== 'operator' });
    boards.set(role, board);
    response.setHeader('Content-Security-Policy', POLICY);
    board(request, response, next);
  };
}
