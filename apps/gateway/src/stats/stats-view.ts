import { EMAIL_STATUSES, type EmailStatus } from '@posthorn/domain';
import { type CountedEmails, type DayCount } from '@posthorn/database';
import { type EmailCounts, type Stats } from './stats.answers.ts';

const DAY_MS = 86_400_000;
const STATUSES = Object.keys(EMAIL_STATUSES) as EmailStatus[];

/** Counts as the interface shows them. */
export function statsView({ groupBy, firstDay, lastDay }: CountedEmails, counts: readonly DayCount[]): Stats {
  const byDay = Map.groupBy(counts, ({ day }) => day);
  const length = (lastDay.getTime() - firstDay.getTime()) / DAY_MS + 1;
  const days = Array.from({ length }, (_, n) => dayOf(new Date(firstDay.getTime() + n * DAY_MS)));
  return {
    ...{ from: dayOf(firstDay), to: dayOf(lastDay), groupBy: groupBy ?? null },
    total: summed(counts),
    days: days.map((day) => ({ day, ...summed(byDay.get(day) ?? []) })),
  };
}

function summed(counts: readonly DayCount[]): EmailCounts {
  const of = (wanted: EmailStatus): number =>
    counts.reduce((sum, { status, count }) => sum + (status === wanted ? count : 0), 0);
  const shown = Object.fromEntries(STATUSES.map((status) => [status.toLowerCase(), of(status)]));
  const accepted = counts.reduce((sum, { count }) => sum + count, 0);
  return { accepted, ...shown } as unknown as EmailCounts;
}

function dayOf(moment: Date): string {
  return moment.toISOString().slice(0, 10);
}
