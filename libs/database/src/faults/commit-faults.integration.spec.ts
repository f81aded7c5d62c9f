import { expect, it } from '@jest/globals';
import { newUuid } from '@posthorn/kernel';
import { faultOf } from './faults.ts';
import { openTestStores } from '../open-test-stores.fixture.ts';
import { transact } from '../transactions/transaction.ts';

const stores = await openTestStores();

/** The error of a transaction whose COMMIT is refused with this SQLSTATE. */
async function failedCommit(sqlState: string): Promise<unknown> {
  await stores.ask(`
    CREATE OR REPLACE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN RAISE EXCEPTION 'refused' USING ERRCODE = '${sqlState}'; END $$;
    DROP TRIGGER IF EXISTS refuse ON workspaces;
    CREATE CONSTRAINT TRIGGER refuse AFTER INSERT ON workspaces DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION refuse()`);
  const id = newUuid(Date.now());
  return transact(stores.database, (transaction) =>
    transaction.workspace.create({ data: { id, name: 'Acme' } }),
  ).catch((error: unknown) => error);
}

it.each([
  ['53100', 'unavailable'],
  ['40001', 'conflict'],
  ['57P01', 'lost'],
  ['23514', 'data'],
])('a COMMIT that is refused with %s is classified like a statement: %s', async (sqlState, fault) => {
  expect(faultOf(await failedCommit(sqlState))).toBe(fault);
});
