import { Refusal } from '@posthorn/kernel';
import { parseTimeOrDay } from '@posthorn/domain';

/** Between which times what is listed was created, as a judged query says it. */
interface GivenRange {
  readonly createdAfter?: string;
  readonly createdBefore?: string;
}

export interface TimeRange {
  readonly createdAfter: Date | undefined;
  readonly createdBefore: Date | undefined;
}

/** How a list refuses two times with none between them. */
export const NO_TIME_BETWEEN = new Refusal(
  400,
  '`createdBefore` is not later than `createdAfter`; give a later time, or leave one out',
);

/** The times that a judged query asks for. @throws Refusal (400) when no time can be after the one and before the other */
export function timeRange(query: GivenRange): TimeRange {
  const { createdAfter: after, createdBefore: before } = query;
  if (after !== undefined && before !== undefined && msOf(after) >= msOf(before)) throw NO_TIME_BETWEEN;
  return {
    createdAfter: after === undefined ? undefined : momentOf(after),
    createdBefore: before === undefined ? undefined : momentOf(before),
  };
}

/** The time that a judged text stands for; no id is older than 1970, and none can stand for such a time. */
export function momentOf(text: string): Date {
  return new Date(Math.max(0, msOf(text)));
}

/** The time that a judged text stands for, in milliseconds since 1970. */
export function msOf(text: string): number {
  const parsed = parseTimeOrDay(text);
  if ('fault' in parsed) throw new Error('a time reached a filter without having been judged');
  return parsed.atMs;
}
