import pg from 'pg';

/** A statement that gives no rows, for which nobody waits. */
export interface LeadingStatement {
  /** The name under which its connection keeps it prepared. */
  readonly name?: string;
  readonly text: string;
  readonly values?: readonly (string | Buffer | null)[];
}

/** What pg's queries ask of a connection; its types name only a part of it. */
interface Wire {
  readonly parsedStatements: Record<string, string | undefined>;
  parse(statement: { readonly name: string | undefined; readonly text: string }): void;
  bind(portal: { readonly statement: string | undefined; readonly values: LeadingStatement['values'] }): void;
  execute(portal: object): void;
}

/** pg's queries as they are written; its types have only what callers use. */
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
 * A statement with others before it, in one round trip. There is no Sync between them: the server skips everything after one that
 * failed, and the answer to the whole is that error. So what comes after BEGIN never runs without it.
 * https://www.postgresql.org/docs/current/protocol-flow.html#PROTOCOL-FLOW-EXT-QUERY
 */
export class PipelinedQuery extends Query {
  private unanswered: number;

  /** @param query has values of its own, unless they are given */
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
  // Before the server has said so: a connection on which a statement of a transaction failed is not used again.
  if (name !== undefined) connection.parsedStatements[name] = text;
  connection.bind({ statement: name, values });
  connection.execute({});
}
