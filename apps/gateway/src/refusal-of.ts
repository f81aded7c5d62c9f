import { isOutage } from '@posthorn/database';
import { Refusal } from '@posthorn/kernel';
import { unavailable } from '@posthorn/use-cases';

/**
 * The refusal that callers get for an error; undefined: it is an internal error. While the database is unavailable they are told to retry.
 * A refusal is never checked for an outage, since outages are recognised by words that its message may quote from a caller.
 */
export function refusalOf(fault: unknown): Refusal | undefined {
  if (fault instanceof Refusal) return fault;
  return isOutage(fault) ? unavailable(fault) : undefined;
}
