import { startTimeout } from '@posthorn/kernel';
import pg from 'pg';
import { PipelinedQuery, type QueryCallback, type LeadingStatement } from './pipelined-query.ts';

/** A connection that is silent for so much longer than the statement timeout of the server is given up. */
const GRACE_MS = 1_000;

/** The routine of Postgres in which a COMMIT waits for the synchronous standby. Its messages are in the language of the server. */
const AWAIT_STANDBY = 'SyncRepWaitForLSN';

/** SQLSTATE statement_completion_unknown. */
const COMPLETION_UNKNOWN = '40003';

/** SQLSTATE read_only_sql_transaction. */
const READ_ONLY = '25006';

/**
 * A pg client whose queries time out. pg has timeouts (`query_timeout`) and promises itself, but implements both by assigning a function to a property of each
 * query. V8 allocates such functions in the old generation, where they retain the query, with all that it sent and received, until the next full garbage
 * collection. Callbacks that are passed as arguments die young.
 *
 * A query whose wait for the synchronous standby somebody has cancelled (`pg_cancel_backend`) fails: Postgres says that it succeeded, with no more than a
 * warning, but a failover would undo it.
 *
 * A connection that is refused a change as read-only is closed, so that the next one finds out whether that is still so: what the database or the role is set to
 * (`default_transaction_read_only`) applies to a session for as long as it lasts, and a proxy may have other connections lead to another server.
 */
export class TimeoutClient extends pg.Client {
  private leading: LeadingStatement[] = [];
  private readonly answerTimeoutMs: number;
  private isUnreplicated = false;

  constructor(config?: pg.ClientConfig) {
    super(config);
    this.answerTimeoutMs = Number(config?.statement_timeout) + GRACE_MS;
    this.on('notice', ({ routine }) => (this.isUnreplicated ||= routine === AWAIT_STANDBY));
  }

  /** Sends a statement together with the next query; they share their error and timeout. Only within a transaction, or to begin one. */
  pipelineWithNext(statement: LeadingStatement): void {
    this.leading.push(statement);
  }

  /** As in pg. `never` is compatible with all of its overloads, which cannot be repeated here. */
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
      // The stack should show the caller, not the event of the socket.
      if (error instanceof Error) Error.captureStackTrace(error);
      throw error;
    }
  }

  private ask([query, values]: readonly unknown[], callback: QueryCallback): unknown {
    const cancelTimeout = startTimeout(this.answerTimeoutMs, () =>
      this.giveUp(new Error('Query read timeout')),
    );
    const inTime: QueryCallback = (error, result) => {
      cancelTimeout();
      callback(error ?? this.faultIfUnreplicated(), result);
      if ((error as { code?: string } | null | undefined)?.code === READ_ONLY) this.giveUp(error as Error);
    };
    if (this.leading.length === 0) return super.query(query as string, values as unknown[], inTime);
    const { leading } = this;
    this.leading = [];
    return super.query(new PipelinedQuery(leading, query as string, values, inTime) as never);
  }

  private faultIfUnreplicated(): Error | null {
    if (!this.isUnreplicated) return null;
    this.isUnreplicated = false;
    const text = 'the standby may lack what was committed, because waiting for it was cancelled';
    return Object.assign(new Error(text), { code: COMPLETION_UNKNOWN });
  }

  /** Destroys the connection: pending queries fail, and the pool opens another one. */
  private giveUp(reason: Error): void {
    this.connection.stream.destroy(reason);
  }
}
