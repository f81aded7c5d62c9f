import { type EventName, eventShape, isEventName, type JsonObject } from '@posthorn/domain';
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import { closedSchema } from './closed-schema.ts';
import { stackModule } from './stack.ts';

const MAX_SHOWN = 3;

const ajv = new Ajv2020({ strict: false, allErrors: true, validateFormats: false });
const validators = new Map<EventName, ValidateFunction>();

/**
 * Validates every event in a database against the schema of its type. It is called when a test database is dropped, so that no test can
 * record an event that the documentation does not describe.
 *
 * @throws Error that shows the first events that do not match
 */
export async function validateRecordedEvents(databaseUrl: string): Promise<void> {
  const { query } = await stackModule('postgres');
  const [table] = await query(databaseUrl, `SELECT to_regclass('public.events') AS name`);
  // Tests of the migrations begin with an empty database.
  if (table!['name'] === null) return;
  const rows = await query(databaseUrl, 'SELECT DISTINCT type, payload FROM events');
  const faults = rows.flatMap(({ type, payload }) => schemaErrorsOf(type as string, payload as string));
  if (faults.length === 0) return;
  const shown = faults.slice(0, MAX_SHOWN).join('\n');
  throw new Error(
    `${faults.length} recorded events do not match their definition in libs/domain/src/events:\n${shown}`,
  );
}

/** How the body of an event violates its schema; empty if it does not. */
export function schemaErrorsOf(type: string, payload: string): string[] {
  if (!isEventName(type)) return [`${type} is not the name of an event`];
  const validate = validatorOf(type);
  if (validate(JSON.parse(payload))) return [];
  return [`${type}: ${ajv.errorsText(validate.errors)}: ${payload.slice(0, 1_000)}`];
}

/** Compiled when the first event of its type is there: nearly every spec loads this file, and few record events of many types. */
function validatorOf(type: EventName): ValidateFunction {
  const known = validators.get(type) ?? ajv.compile(closedSchema(eventShape(type).schema) as JsonObject);
  validators.set(type, known);
  return known;
}
