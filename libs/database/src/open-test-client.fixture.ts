import { afterAll } from '@jest/globals';
import { createTestDatabase } from '@posthorn/testing';
import pg from 'pg';

/** Creates a database for the spec, with a connection that has no settings of ours, and drops it after its tests. Call at the top level of a spec. */
export async function openTestClient(): Promise<{ readonly client: pg.Client; readonly url: string }> {
  const database = await createTestDatabase();
  const client = new pg.Client({ connectionString: database.url });
  await client.connect();
  afterAll(async () => {
    await client.end();
    await database.drop();
  });
  return { client, url: database.url };
}
