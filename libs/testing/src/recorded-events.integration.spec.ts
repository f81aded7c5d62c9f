import { expect, it } from '@jest/globals';
import { EVENT_NAMES, eventShape } from '@posthorn/domain';
import { createTestDatabase } from './postgres.ts';
import { schemaErrorsOf } from './recorded-events.ts';
import { stackModule } from './stack.ts';

const bodyOf = (name: (typeof EVENT_NAMES)[number]): string => JSON.stringify(eventShape(name).example);

it.each(EVENT_NAMES)(
  'W11, W12: the example of %s matches its definition; another event, an extra field and another time format do not',
  (name) => {
    expect(schemaErrorsOf(name, bodyOf(name))).toEqual([]);
    const other = EVENT_NAMES.find((one) => one !== name)!;
    expect(schemaErrorsOf(name, bodyOf(other))).toHaveLength(1);
    expect(schemaErrorsOf(name, bodyOf(name).replace('"data":{', '"data":{"more":1,'))).toHaveLength(1);
    expect(schemaErrorsOf(name, bodyOf(name).replace('.000Z', 'Z'))).toHaveLength(1);
  },
);

it('dropping a test database that contains an event which does not match its definition fails, and still removes the database', async () => {
  const { query } = await stackModule('postgres');
  const database = await createTestDatabase();
  await query(
    database.url,
    `INSERT INTO events (id, workspace_id, type, payload, webhook_ids, created_at)
     SELECT new_uuid_v7(now()), gen_random_uuid(), 'CONTACT_CREATED', '{"event":"CONTACT_CREATED","data":{}}', '{}', now()`,
  );
  await expect(database.drop()).rejects.toThrow("must have required property 'createdAt'");
  await expect(query(database.url, 'SELECT 1')).rejects.toThrow('does not exist');
});
