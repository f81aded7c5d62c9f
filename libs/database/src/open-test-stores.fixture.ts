import { afterAll } from '@jest/globals';
import { createTestDatabase } from '@posthorn/testing';
import { TestStores } from './test-stores.fixture.ts';

/** Creates a database for the spec, and drops it after its tests. Call at the top level of a spec. */
export async function openTestStores(poolSize?: number): Promise<TestStores> {
  const database = await createTestDatabase();
  const stores = new TestStores(database.url, poolSize);
  afterAll(async () => {
    await stores.close();
    await database.drop();
  });
  return stores;
}
