import { isOutage } from '@posthorn/database';
import { Refusal } from '@posthorn/kernel';

const RETRY_AFTER_SECONDS = 2;

/**
 * The refusal that callers get for an error; undefined: it is an internal error. They are told to retry while the database is unavailable, and
 * when it rolled their change back in favour of another. A refusal is never checked for an outage, since outages are recognised by words that
 * its message may quote from a caller.
 */
export function refusalOf(fault: unknown): Refusal | undefined {
  if (fault instanceof Refusal) return fault;
  return isOutage(fault) ? unconfirmed(fault) : undefined;
}

/** The refusal during an outage of the database. Unlike that of an email, it names no idempotency key, because most routes have none. */
export function unconfirmed(cause?: unknown): Refusal {
  return new Refusal(
    503,
    'The service cannot confirm this request right now; send it again',
    { retryAfterSeconds: RETRY_AFTER_SECONDS },
    { cause },
  );
}
