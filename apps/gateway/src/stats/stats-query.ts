import { type DatabaseClock, Refusal, type WorkspaceId } from '@posthorn/kernel';
import { SIZES } from '@posthorn/domain';
import type { CountedEmails } from '@posthorn/database';
import { msOf } from '../paging/time-range.ts';
import { Optional } from '../validation/rule.ts';
import { day, singleLine } from '../validation/text-rules.ts';

const DAY_MS = 86_400_000;
const MAX_DAYS = 92;
const DEFAULT_DAYS = 30;

/** Which emails are counted. */
export class StatsQuery {
  @Optional(singleLine(SIZES.groupBy), 'Only emails that were sent with this `groupBy`.')
  groupBy?: string;

  @Optional(
    day,
    `The first day (UTC), not before 1970. If absent, the ${DEFAULT_DAYS} days up to \`to\` are counted; at most ${MAX_DAYS} are allowed.`,
  )
  from?: string;

  @Optional(day, 'The last day (UTC), which is counted too. If absent, today.')
  to?: string;
}

/** The filter of a validated query. @throws Refusal (400) when the days are in the wrong order, or too many */
export function countedEmails(
  workspaceId: WorkspaceId,
  query: StatsQuery,
  clock: DatabaseClock,
): CountedEmails {
  const last = query.to === undefined ? Math.floor(clock.nowMs() / DAY_MS) * DAY_MS : msOf(query.to);
  const first = query.from === undefined ? Math.max(0, last - (DEFAULT_DAYS - 1) * DAY_MS) : msOf(query.from);
  const days = (last - first) / DAY_MS + 1;
  if (days < 1) throw tooLate(query.to === undefined);
  if (days > MAX_DAYS) throw tooManyDays(days);
  return { workspaceId, groupBy: query.groupBy, firstDay: new Date(first), lastDay: new Date(last) };
}

function tooLate(isUntilToday: boolean): Refusal {
  const fault = isUntilToday
    ? '`from` is later than today; give an earlier day, or `to` as well'
    : '`from` is later than `to`; give an earlier day, or leave it out';
  return new Refusal(400, fault);
}

/** The refusal of too many days. */
export function tooManyDays(days: number): Refusal {
  return new Refusal(
    400,
    `\`from\` to \`to\` is ${days} days; at most ${MAX_DAYS} are allowed, so ask for shorter periods one after the other`,
  );
}
