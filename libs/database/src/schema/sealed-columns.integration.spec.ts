import { describe, expect, it } from '@jest/globals';
import { openTestStores } from '../open-test-stores.fixture.ts';
import { SEALED_COLUMNS, type SealedColumn } from './sealed-columns.ts';

const NAMED: SealedColumn[] = Object.values(SEALED_COLUMNS);

const stores = await openTestStores();

describe('The columns that hold encrypted secrets', () => {
  /** The binary columns of the schema that are not hashes, as `table.column`. */
  async function inSchema(): Promise<string[]> {
    const rows = await stores.ask<{ name: string }>(
      `SELECT table_name || '.' || column_name AS name FROM information_schema.columns
       WHERE table_schema = 'public' AND data_type = 'bytea' AND column_name !~ '(_hash|^fingerprint)$'
       ORDER BY 1`,
    );
    return rows.map(({ name }) => name);
  }

  it('are all listed, so that key rotation includes each of them', async () => {
    expect(await inSchema()).toEqual(NAMED.map(({ table, column }) => `${table}.${column}`).sort());
  });

  it('are detected when one is not listed', async () => {
    await stores.ask('CREATE TABLE forgotten (id uuid PRIMARY KEY, secret bytea)');
    expect(await inSchema()).toContain('forgotten.secret');
    await stores.ask('DROP TABLE forgotten');
  });

  it('bind their secrets to different contexts', () => {
    const places = NAMED.map(({ boundTo }) => boundTo);
    expect(new Set(places).size).toBe(places.length);
  });
});
