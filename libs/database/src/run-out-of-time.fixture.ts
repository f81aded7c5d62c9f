import type { TestStores } from './test-stores.fixture.ts';

/**
 * Lets statements that insert, update or delete more rows of a table than this fail as if they had run out of time, on however fast or slow a machine.
 *
 * @returns ends that
 */
export async function runOutOfTimeBeyond(
  stores: TestStores,
  rows: number,
  event: 'INSERT' | 'UPDATE' | 'DELETE',
  table: string,
): Promise<() => Promise<void>> {
  await stores.ask(
    `CREATE OR REPLACE FUNCTION run_out_of_time() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
       IF (SELECT count(*) FROM changed) > TG_ARGV[0]::int THEN
         RAISE query_canceled USING MESSAGE = 'canceling statement due to statement timeout';
       END IF;
       RETURN NULL;
     END $$`,
  );
  await stores.ask(
    `CREATE TRIGGER run_out_of_time AFTER ${event} ON ${table} REFERENCING ${event === 'DELETE' ? 'OLD' : 'NEW'} TABLE AS changed
     FOR EACH STATEMENT EXECUTE FUNCTION run_out_of_time(${rows})`,
  );
  return async () => void (await stores.ask(`DROP TRIGGER run_out_of_time ON ${table}`));
}
