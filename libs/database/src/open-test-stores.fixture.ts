import { afterAll } from '@jest/globals';
import { createTestDatabase } from '@posthorn/testing';
import { Office } from './office.fixture.ts';

/** An office in a database of the spec's own; after its tests the one is closed and the other dropped. For the top of a spec. */
export async function openOffice(poolSize?: number): Promise<Office> {
  const database = await createTestDatabase();
  const office = new Office(database.url, poolSize);
  afterAll(async () => {
    await office.close();
    await database.drop();
  });
  return office;
}
