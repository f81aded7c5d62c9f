import { beforeEach, describe, expect, it } from '@jest/globals';
import type { TimeoutClient } from '../connection/timeout-client.ts';
import { openTestStores } from '../open-test-stores.fixture.ts';
import { type BeginMode, type TransactionClient, transactOn } from './transaction.ts';

const DIVISION_BY_ZERO = '22012';
const UNIQUE_VIOLATION = '23505';

const { database } = await openTestStores(1);
await database.pool.query('CREATE TABLE notes (text text PRIMARY KEY)');

beforeEach(() => database.pool.query('DELETE FROM notes'));

const noting = (text: string): { name: string; text: string; values: string[] } => ({
  name: 'note',
  text: 'INSERT INTO notes (text) VALUES ($1)',
  values: [text],
});

async function notes(): Promise<string[]> {
  const { rows } = await database.pool.query<{ text: string }>('SELECT text FROM notes ORDER BY text');
  return rows.map(({ text }) => text);
}

async function codeOf(failing: Promise<unknown>): Promise<unknown> {
  const error: unknown = await failing.catch((thrown: unknown) => thrown);
  return (error as { code?: unknown }).code;
}

describe.each<BeginMode>(['separate', 'pipelined'])('A transaction that begins %s', (begins) => {
  const transact = <Result>(work: (client: TransactionClient) => Promise<Result>): Promise<Result> =>
    transactOn(database, work, begins);

  it('returns the results of its statements', async () => {
    const states = await transact(async (client) => {
      const { rows } = await client.query<{ n: number }>('SELECT 7 AS n');
      expect(rows).toEqual([{ n: 7 }]);
      const { rowCount } = await client.query(noting('a'));
      expect(rowCount).toBe(1);
      return client.query<{ isOne: boolean }>(
        'SELECT xact_start < statement_timestamp() AS "isOne" FROM pg_stat_activity WHERE pid = pg_backend_pid()',
      );
    });
    expect(states.rows).toEqual([{ isOne: true }]);
    expect(await notes()).toEqual(['a']);
  });

  it('rolls back when its work throws', async () => {
    const changed = transact(async (client) => {
      await client.query(noting('a'));
      throw new Error('changed its mind');
    });
    await expect(changed).rejects.toThrow('changed its mind');
    expect(await notes()).toEqual([]);
  });

  it('runs deferred statements just before the next one, prepared once, or with COMMIT if there is none', async () => {
    for (const [first, last] of [
      ['a', 'b'],
      ['c', 'd'],
    ] as const) {
      await transact(async (client) => {
        client.pipelineWithNext(noting(first));
        const { rows } = await client.query<{ text: string }>('SELECT text FROM notes WHERE text = $1', [
          first,
        ]);
        expect(rows).toEqual([{ text: first }]);
        client.pipelineWithNext(noting(last));
      });
    }
    expect(await notes()).toEqual(['a', 'b', 'c', 'd']);
  });

  it('fails and is rolled back when a deferred statement fails', async () => {
    await transact((client) => client.query(noting('a')));
    const twice = transact(async (client) => {
      await client.query(noting('b'));
      client.pipelineWithNext(noting('a'));
      await client.query(noting('c'));
    });
    expect(await codeOf(twice)).toBe(UNIQUE_VIOLATION);
    const atLast = transact(async (client) => {
      await client.query(noting('d'));
      client.pipelineWithNext(noting('a'));
    });
    expect(await codeOf(atLast)).toBe(UNIQUE_VIOLATION);
    expect(await notes()).toEqual(['a']);
  });
});

it('A statement does not run outside of the transaction when one before it failed, as BEGIN might', async () => {
  const client = (await database.pool.connect()) as unknown as TimeoutClient & { release(): void };
  client.pipelineWithNext({ text: 'SELECT 1 / 0' });
  expect(await codeOf(client.query(...([noting('a')] as never[])))).toBe(DIVISION_BY_ZERO);
  client.release();
  expect(await notes()).toEqual([]);
});
