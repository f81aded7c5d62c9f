import { startTimeout } from '@posthorn/kernel';
import pg from 'pg';
import { PipelinedQuery, type QueryCallback, type LeadingStatement } from './pipelined-query.ts';

/**
 * When the server says nothing for longer than its own statement timeout, the connection is given up. When the answer to a claim is lost, its rows
 * wait until their lease has ended.
 */
const ANSWER_TIMEOUT_MS = 6_000;

/**
 * A connection on which no query waits for ever. pg can watch its queries itself (`query_timeout`) and return promises, but for both it assigns a
 * function to a property of each query. V8 allocates such functions in the old generation, where they keep their query, with all that it sent and
 * received, until the whole heap is collected. Functions that are passed as arguments die young.
 */
export class TimeoutClient extends pg.Client {
  private leading: LeadingStatement[] = [];

  /** Sends it just before the next statement; they share an error and a timeout. Only within a transaction, or to begin one. */
  pipelineWithNext(statement: LeadingStatement): void {
    this.leading.push(statement);
  }

  /** As pg's, whose many overloads cannot be repeated here: `never` fits them all. */
  override query(...asked: never[]): never {
    const last: unknown = asked.at(-1);
    if (typeof last !== 'function') return this.answerTo(asked) as never;
    return this.ask(asked.slice(0, -1), last as QueryCallback) as never;
  }

  private async answerTo(asked: readonly unknown[]): Promise<unknown> {
    try {
      return await new Promise((resolve, reject) => {
        this.ask(asked, (error, result) => (error ? reject(error) : resolve(result)));
      });
    } catch (error) {
      // The stack should show who asked, not which byte of the socket brought the answer.
      if (error instanceof Error) Error.captureStackTrace(error);
      throw error;
    }
  }

  private ask([query, values]: readonly unknown[], callback: QueryCallback): unknown {
    const cancelTimeout = startTimeout(ANSWER_TIMEOUT_MS, () => this.giveUp());
    const inTime: QueryCallback = (error, result) => {
      cancelTimeout();
      callback(error, result);
    };
    if (this.leading.length === 0) return super.query(query as string, values as unknown[], inTime);
    const { leading } = this;
    this.leading = [];
    return super.query(new PipelinedQuery(leading, query as string, values, inTime) as never);
  }

  /** Whoever waits on it gets the error, and the pool opens another connection in its place. */
  private giveUp(): void {
    this.connection.stream.destroy(new Error('Query read timeout'));
  }
}
