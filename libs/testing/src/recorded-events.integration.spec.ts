import { expect, it } from '@jest/globals';
import { EVENT_NAMES, eventShape } from '@posthorn/domain';
import { createTestDatabase } from './postgres.ts';
import { faultIn } from './recorded-events.ts';
import { stackPiece } from './stack.ts';

const bodyOf = (name: (typeof EVENT_NAMES)[number]): string => JSON.stringify(eventShape(name).example);

it.each(EVENT_NAMES)('W11, W12: the example of %s is as it is defined, and nothing else is', (name) => {
  expect(faultIn(name, bodyOf(name))).toEqual([]);
  const other = EVENT_NAMES.find((one) => one !== name)!;
  expect(faultIn(name, bodyOf(other))).toHaveLength(1);
  expect(faultIn(name, bodyOf(name).replace('"data":{', '"data":{"more":1,'))).toHaveLength(1);
  expect(faultIn(name, bodyOf(name).replace('.000Z', 'Z'))).toHaveLength(1);
});

it('a test database that holds an event which nobody has defined fails its test, and is gone all the same', async () => {
  const { query } = await stackPiece('postgres');
  const database = await createTestDatabase();
  await query(
    database.url,
    `INSERT INTO events (id, workspace_id, type, payload, webhook_ids, created_at)
     SELECT new_uuid_v7(now()), gen_random_uuid(), 'CONTACT_CREATED', '{"event":"CONTACT_CREATED","data":{}}', '{}', now()`,
  );
  await expect(database.drop()).rejects.toThrow("must have required property 'createdAt'");
  await expect(query(database.url, 'SELECT 1')).rejects.toThrow('does not exist');
});
