import { isOutage } from '@posthorn/database';
import { Refusal } from '@posthorn/kernel';
import { unavailable } from '@posthorn/use-cases';

/**
 * What callers are told of a fault; undefined: it is one of ours. Whatever they asked for, while the database is away they are told to ask
 * again. A refusal is none of its faults, though it can hold a caller's words, by which some of those are known.
 */
export function refusalOf(fault: unknown): Refusal | undefined {
  if (fault instanceof Refusal) return fault;
  return isOutage(fault) ? unavailable(fault) : undefined;
}
