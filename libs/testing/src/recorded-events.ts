import { EVENT_NAMES, eventShape, isEventName, type JsonObject } from '@posthorn/domain';
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import { closedSchema } from './closed-schema.ts';
import { stackPiece } from './stack.ts';

const MAX_SHOWN = 3;

const ajv = new Ajv2020({ strict: false, allErrors: true, validateFormats: false });
const judges = new Map<string, ValidateFunction>(
  EVENT_NAMES.map((name) => [name, ajv.compile(closedSchema(eventShape(name).schema) as JsonObject)]),
);

/**
 * Holds every event that a database has against the definition of its name. Each test database is asked when it is given back, so no test
 * can record an event that the documents do not describe, and none has to remember to look.
 *
 * @throws Error that shows the first of those that differ
 */
export async function judgeRecordedEvents(databaseUrl: string): Promise<void> {
  const { query } = await stackPiece('postgres');
  const [table] = await query(databaseUrl, `SELECT to_regclass('public.events') AS name`);
  // A test of the migrations begins with nothing.
  if (table!['name'] === null) return;
  const rows = await query(databaseUrl, 'SELECT DISTINCT type, payload FROM events');
  const faults = rows.flatMap(({ type, payload }) => faultIn(type as string, payload as string));
  if (faults.length === 0) return;
  const shown = faults.slice(0, MAX_SHOWN).join('\n');
  throw new Error(
    `${faults.length} recorded events are otherwise than libs/domain/src/events says:\n${shown}`,
  );
}

/** What is wrong with the body of an event; none: nothing. */
export function faultIn(type: string, payload: string): string[] {
  if (!isEventName(type)) return [`${type} is not the name of an event`];
  const judge = judges.get(type)!;
  if (judge(JSON.parse(payload))) return [];
  return [`${type}: ${ajv.errorsText(judge.errors)}: ${payload.slice(0, 1_000)}`];
}
