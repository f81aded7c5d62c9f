import { Refusal } from '@posthorn/kernel';
import { parseTimeOrDay } from '@posthorn/domain';

/** The range of creation times of a validated query. */
interface RangeQuery {
  readonly createdAfter?: string;
  readonly createdBefore?: string;
}

interface TimeRange {
  readonly createdAfter: Date | undefined;
  readonly createdBefore: Date | undefined;
}

/** The refusal of an empty time range. */
export const NO_TIME_BETWEEN = new Refusal(
  400,
  '`createdBefore` is not later than `createdAfter`; give a later time, or leave one out',
);

/** The time range of a validated query. @throws Refusal (400) when it is empty */
export function timeRange(query: RangeQuery): TimeRange {
  const { createdAfter: after, createdBefore: before } = query;
  if (after !== undefined && before !== undefined && msOf(after) >= msOf(before)) throw NO_TIME_BETWEEN;
  return {
    createdAfter: after === undefined ? undefined : dateOf(after),
    createdBefore: before === undefined ? undefined : dateOf(before),
  };
}

/** The time of a validated text; not before 1970, since times are compared with ids, which cannot represent earlier ones. */
export function dateOf(text: string): Date {
  return new Date(Math.max(0, msOf(text)));
}

/** The time of a validated text, in milliseconds since 1970. */
export function msOf(text: string): number {
  const parsed = parseTimeOrDay(text);
  if ('fault' in parsed) throw new Error('the time was not validated');
  return parsed.atMs;
}
