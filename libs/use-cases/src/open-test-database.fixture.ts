import { afterAll } from '@jest/globals';
import { type Database, openDatabase, waitForDatabase } from '@posthorn/database';
import { createTestDatabase, PATIENT_LIMITS } from '@posthorn/testing';

/** Creates a database for the spec, and drops it after its tests. Call at the top level of a spec. */
export async function openTestDatabase(poolSize = 4): Promise<Database> {
  const created = await createTestDatabase();
  const database = openDatabase({
    url: created.url,
    poolSize,
    applicationName: 'test',
    // Some specs wait until a lock is given up.
    limits: { ...PATIENT_LIMITS, lockMs: 2_000 },
  });
  afterAll(async () => {
    await database.close();
    await created.drop();
  });
  await waitForDatabase(database);
  return database;
}
