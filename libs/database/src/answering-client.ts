import pg from 'pg';

/** When the server says nothing at all for longer than its own time-out of a statement, the connection is given up. */
const ANSWER_TIMEOUT_MS = 6_000;

type Answered = (error: Error | null | undefined, result: unknown) => void;

/**
 * A connection of which no query waits for ever. pg can watch its queries itself (`query_timeout`), and makes promises of them, but for both
 * it assigns a function to a property of each query. V8 makes such functions in the old generation, where they keep their query
 * with all that it sent and got until the whole heap is collected. Functions that are passed on die young.
 */
export class AnsweringClient extends pg.Client {
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
    const timer = setTimeout(() => this.giveUp(), ANSWER_TIMEOUT_MS);
    return super.query(
      query as string,
      values as unknown[],
      (error: Error | null | undefined, result: unknown) => {
        clearTimeout(timer);
        answered(error, result);
      },
    );
  }

  /** Whoever waits on it is told, and the pool takes another in its place. */
  private giveUp(): void {
    this.connection.stream.destroy(new Error('Query read timeout'));
  }
}
