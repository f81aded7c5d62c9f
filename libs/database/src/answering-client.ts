import { giveUpAfter } from '@posthorn/kernel';
import pg from 'pg';
import { AccompaniedQuery, type Answered, type Companion } from './accompanied-query.ts';

/**
 * When the server says nothing at all for longer than its own time-out of a statement, the connection is given up. Of a claim whose answer is
 * lost the rows lie until their lease has ended.
 */
const ANSWER_TIMEOUT_MS = 6_000;

/**
 * A connection of which no query waits for ever. pg can watch its queries itself (`query_timeout`), and makes promises of them, but for both
 * it assigns a function to a property of each query. V8 makes such functions in the old generation, where they keep their query
 * with all that it sent and got until the whole heap is collected. Functions that are passed on die young.
 */
export class AnsweringClient extends pg.Client {
  private companions: Companion[] = [];

  /** Sends it just before the next statement, whose error is its error too, and whose time it shares. Only within a transaction, or to begin one. */
  sendWithNext(statement: Companion): void {
    this.companions.push(statement);
  }

  /** As pg's, whose many forms cannot be written down once more: `never` fits them all. */
  override query(...asked: never[]): never {
    const last: unknown = asked.at(-1);
    if (typeof last !== 'function') return this.answerTo(asked) as never;
    return this.ask(asked.slice(0, -1), last as Answered) as never;
  }

  private async answerTo(asked: readonly unknown[]): Promise<unknown> {
    try {
      return await new Promise((resolve, reject) => {
        this.ask(asked, (error, result) => (error ? reject(error) : resolve(result)));
      });
    } catch (error) {
      // Of use is who asked, not which byte of the socket brought the answer.
      if (error instanceof Error) Error.captureStackTrace(error);
      throw error;
    }
  }

  private ask([query, values]: readonly unknown[], answered: Answered): unknown {
    const endWait = giveUpAfter(ANSWER_TIMEOUT_MS, () => this.giveUp());
    const inTime: Answered = (error, result) => {
      endWait();
      answered(error, result);
    };
    if (this.companions.length === 0) return super.query(query as string, values as unknown[], inTime);
    const { companions } = this;
    this.companions = [];
    return super.query(new AccompaniedQuery(companions, query as string, values, inTime) as never);
  }

  /** Whoever waits on it is told, and the pool takes another in its place. */
  private giveUp(): void {
    this.connection.stream.destroy(new Error('Query read timeout'));
  }
}
