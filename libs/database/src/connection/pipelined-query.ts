import pg from 'pg';

/** A statement without result rows, whose own completion is not awaited. */
export interface LeadingStatement {
  /** The name of the prepared statement, if any. */
  readonly name?: string;
  readonly text: string;
  readonly values?: readonly (string | Buffer | null)[];
}

/** The part of pg's internal connection that its queries use; pg's types lack most of it. */
interface Wire {
  readonly parsedStatements: Record<string, string | undefined>;
  parse(statement: { readonly name: string | undefined; readonly text: string }): void;
  bind(portal: { readonly statement: string | undefined; readonly values: LeadingStatement['values'] }): void;
  execute(portal: object): void;
}

/** The internal methods of pg's queries; pg's types have only the public ones. */
interface WrittenQuery {
  prepare(connection: Wire): void;
  handleCommandComplete(message: unknown, connection: Wire): void;
}

export type QueryCallback = (error: Error | null | undefined, result: unknown) => void;

const Query = pg.Query as unknown as new (
  query: object,
  values: unknown,
  callback: QueryCallback,
) => WrittenQuery;

/**
 * A query that is sent in one round trip with the statements before it (pipelining). There is no Sync between them: after an error the server skips the rest,
 * and the whole fails with that error. So nothing after a BEGIN ever runs without it.
 * https://www.postgresql.org/docs/current/protocol-flow.html#PROTOCOL-FLOW-EXT-QUERY
 */
export class PipelinedQuery extends Query {
  private unanswered: number;

  /** @param values those of the query, unless it contains its own */
  constructor(
    private readonly leading: readonly LeadingStatement[],
    query: string | pg.QueryConfig,
    values: unknown,
    callback: QueryCallback,
  ) {
    const config = typeof query === 'string' ? { text: query } : query;
    super({ queryMode: 'extended', ...config }, values, callback);
    this.unanswered = leading.length;
  }

  override prepare(connection: Wire): void {
    for (const statement of this.leading) send(connection, statement);
    super.prepare(connection);
  }

  override handleCommandComplete(message: unknown, connection: Wire): void {
    if (this.unanswered === 0) super.handleCommandComplete(message, connection);
    else this.unanswered -= 1;
  }
}

function send(connection: Wire, { name, text, values }: LeadingStatement): void {
  const isParsed = name !== undefined && connection.parsedStatements[name] !== undefined;
  if (!isParsed) connection.parse({ name, text });
  // Before the server has confirmed it, which is safe: after a failed statement in a transaction the connection is not used again.
  if (name !== undefined) connection.parsedStatements[name] = text;
  connection.bind({ statement: name, values });
  connection.execute({});
}
