import { afterAll, beforeAll, expect } from '@jest/globals';
import { type Answer, type RequestOptions } from '../api.ts';
import { Stack } from '../stack.ts';
import { type Case } from './cases.ts';
import { expectRefusal } from './refusal.ts';

/** An id that exists nowhere, for a name in a path. */
const NOWHERE = '01h455vb4pex5vsknk084sn02q';
const PREFIXES: Record<string, string> = {
  workspace_id: 'wrk',
  api_key_id: 'aki',
  email_id: 'trs',
  template_id: 'tpl',
  contact_id: 'ctc',
  suppression_id: 'sup',
  identity_id: 'idn',
  user_id: 'usr',
  invitation_id: 'inv',
  webhook_id: 'wh',
  event_id: 'evt',
  delivery_id: 'dlv',
};

/** One stack for a file of cases, whose requests are from an EDITOR. Whatever they try, nothing of it may be written. */
export class RefusingStack {
  private started!: Stack;
  private readonly ids: Record<string, string> = {};
  private before: unknown;

  /** Registers its own beginning and end with the file. @param prepare what must be there first; gives the ids of paths */
  static forFile(prepare?: (stack: Stack) => Promise<Record<string, string> | void>): RefusingStack {
    const refusing = new RefusingStack();
    beforeAll(() => refusing.begin(prepare), 60_000);
    afterAll(() => refusing.end());
    return refusing;
  }

  get stack(): Stack {
    return this.started;
  }

  /** Sends what a case says, and checks the refusal. */
  async refuses(bad: Case): Promise<void> {
    expectRefusal(await this.send(bad), bad.status, bad.names);
  }

  send({ route, path = {}, query = '', headers = {}, body, as = 'editor' }: Case): Promise<Answer> {
    const [method, template] = route.split(' ') as [string, string];
    const url = template.replace(/\{(\w+)\}/g, (_all, name: string) => path[name] ?? this.idFor(name));
    const key = as === null ? null : this.started.tenant.keys[as];
    const options: RequestOptions = { key, headers: { ...headers } };
    if (method === 'POST') return this.started.api().post(url + query, body, options);
    return this.started.api().request(method, url + query, undefined, options);
  }

  private idFor(name: string): string {
    return this.ids[name] ?? `${PREFIXES[name]!}_${NOWHERE}`;
  }

  private async begin(prepare?: (stack: Stack) => Promise<Record<string, string> | void>): Promise<void> {
    // No rate would let a table through.
    this.started = await Stack.start({ sends: false, env: { RATE_LIMIT_PER_SECOND: '0' } });
    Object.assign(this.ids, { workspace_id: this.started.tenant.workspaceId }, await prepare?.(this.started));
    this.before = await this.contents();
  }

  private async end(): Promise<void> {
    try {
      expect(await this.contents()).toEqual(this.before);
    } finally {
      await this.started.close();
    }
  }

  /** Of every table how many rows it has, and which transaction wrote last to it. */
  private async contents(): Promise<Record<string, unknown>> {
    const { pool } = this.started.database;
    const { rows: tables } = await pool.query<{ name: string }>(
      "SELECT relname AS name FROM pg_class WHERE relkind IN ('r', 'p') AND NOT relispartition AND relnamespace = 'public'::regnamespace",
    );
    // When a key was used last is noted whatever became of the request.
    const counts = tables.map(async ({ name }) => {
      const written = name === 'api_keys' ? '0' : 'max(xmin::text::bigint)';
      const { rows } = await pool.query<object>(`SELECT count(*)::int, ${written} AS written FROM "${name}"`);
      return [name, rows[0]] as const;
    });
    return Object.fromEntries(await Promise.all(counts));
  }
}

/** Cases for `it.each`, with their titles; a kind of field has at least forty. */
export function atLeastForty(cases: readonly Case[]): [title: string, bad: Case][] {
  if (cases.length < 40) throw new Error(`only ${cases.length} cases`);
  return titled(cases);
}

/** Cases for `it.each`, with their titles. */
export function titled(cases: readonly Case[]): [title: string, bad: Case][] {
  return cases.map((bad) => [`${bad.route} ${bad.what} (${bad.status})`, bad]);
}
