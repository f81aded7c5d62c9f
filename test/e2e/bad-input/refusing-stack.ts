import { afterAll, beforeAll, expect } from '@jest/globals';
import { PATH_IDS, type PathIdName } from '../../../apps/gateway/src/validation/path-ids.ts';
import type { Answer, RequestOptions } from '../api.ts';
import { Stack } from '../stack.ts';
import type { Case } from './cases.ts';
import { expectRefusal } from './refusal.ts';

/** The suffix of an id that does not exist. */
const NOWHERE = '01h455vb4pex5vsknk084sn02q';
/** How many requests of a table are sent concurrently. */
const AT_ONCE = 10;

/** A stack for a file of invalid requests. After all of them, the database must be unchanged. */
export class RefusingStack {
  readonly stack: Stack;
  private readonly ids: Record<string, string> = {};
  private before: unknown;

  private constructor(prepare: (stack: Stack) => Promise<Record<string, string> | void>) {
    // Before the stack is closed.
    afterAll(async () => expect(await this.contents()).toEqual(this.before));
    this.stack = Stack.forTests({ sends: false });
    beforeAll(async () => {
      Object.assign(this.ids, { workspace_id: this.stack.tenant.workspaceId }, await prepare(this.stack));
      this.before = await this.contents();
    });
  }

  /** Registers `beforeAll` and `afterAll` for the file. @param prepare creates what must exist first, and returns the ids for paths */
  static forFile(
    prepare: (stack: Stack) => Promise<Record<string, string> | void> = async () => {},
  ): RefusingStack {
    return new RefusingStack(prepare);
  }

  /** Sends the request of a case, and checks the refusal. */
  async refuses(bad: Case): Promise<void> {
    const answer = await this.send(bad);
    expectRefusal(bad.isItem ? answerToItem(answer) : answer, bad.status, bad.names);
  }

  /** Sends the requests of all cases, several at once, and reports every one that was not refused as expected. */
  async refusesAll(table: readonly Case[]): Promise<void> {
    const faults: string[] = [];
    for (let done = 0; done < table.length; done += AT_ONCE) {
      const some = table.slice(done, done + AT_ONCE).map(async (bad) => {
        const fault = (error: Error): number => faults.push(`${bad.route} ${bad.what}: ${error.message}`);
        await this.refuses(bad).catch(fault);
      });
      await Promise.all(some);
    }
    expect(faults).toEqual([]);
  }

  send({ route, path = {}, query = '', headers = {}, body, as = 'editor' }: Case): Promise<Answer> {
    const [method, template] = route.split(' ') as [string, string];
    const url = template.replace(/\{(\w+)\}/g, (_all, name: string) => path[name] ?? this.idFor(name));
    const key = as === null ? null : this.stack.tenant.keys[as];
    const options: RequestOptions = { key, headers: { ...headers } };
    return this.stack.api().send(method, url + query, body, options);
  }

  private idFor(name: string): string {
    const { prefix } = name in PATH_IDS ? PATH_IDS[name as PathIdName] : { prefix: 'x' };
    return this.ids[name] ?? `${prefix}_${NOWHERE}`;
  }

  /** The number of rows of every table, and the last transaction that wrote to it. */
  private async contents(): Promise<Record<string, unknown>> {
    const { pool } = this.stack.database;
    const { rows: tables } = await pool.query<{ name: string }>(
      "SELECT relname AS name FROM pg_class WHERE relkind IN ('r', 'p') AND NOT relispartition AND relnamespace = 'public'::regnamespace",
    );
    const counts = tables.map(({ name }) => {
      // The time of a key's last use is recorded for refused requests, too.
      const written = name === 'api_keys' ? '0' : 'max(xmin::text::bigint)';
      return `SELECT '${name}' AS name, count(*)::int, ${written} AS written FROM "${name}"`;
    });
    const { rows } = await pool.query<{ name: string }>(counts.join(' UNION ALL '));
    return Object.fromEntries(rows.map(({ name, ...contents }) => [name, contents]));
  }
}

interface FailedItem {
  readonly to?: string | null;
  readonly error?: { readonly statusCode: number };
}

/** The error of the only item of a batch, as the answer to a request of its own. */
function answerToItem(answer: Answer): Answer {
  const { failed } = (answer.body['emails'] ?? {}) as { failed?: FailedItem[] };
  const { to = null, error } = failed?.[0] ?? {};
  expect({ status: answer.status, body: answer.body }).toEqual({
    status: 200,
    body: { emails: { successful: [], failed: [{ index: 0, to, error: expect.any(Object) }] } },
  });
  expect(to === null || typeof to === 'string').toBe(true);
  return { ...answer, status: error!.statusCode, body: { ...error } };
}

/** Cases for `it.each`, with their titles. */
export function titled(cases: readonly Case[]): [title: string, bad: Case][] {
  return cases.map((bad) => [`${bad.route} ${bad.what} (${bad.status})`, bad]);
}
