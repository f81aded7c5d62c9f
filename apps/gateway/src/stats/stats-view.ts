import { EMAIL_STATUSES, type EmailStatus } from '@posthorn/domain';
import type { CountedEmails, DayCount, DayEngagement } from '@posthorn/database';
import type { EmailsCounted } from '@posthorn/use-cases';
import type { EmailCounts, Stats } from './stats.answers.ts';

const DAY_MS = 86_400_000;
const STATUSES = Object.keys(EMAIL_STATUSES) as EmailStatus[];

/** Counts as the interface shows them. */
export function statsView(
  { groupBy, firstDay, lastDay }: CountedEmails,
  { statuses, engagements }: EmailsCounted,
): Stats {
  const statusesOf = Map.groupBy(statuses, ({ day }) => day);
  const engagementsOf = Map.groupBy(engagements, ({ day }) => day);
  const length = (lastDay.getTime() - firstDay.getTime()) / DAY_MS + 1;
  const days = Array.from({ length }, (_, n) => dayOf(new Date(firstDay.getTime() + n * DAY_MS)));
  return {
    from: dayOf(firstDay),
    to: dayOf(lastDay),
    groupBy: groupBy ?? null,
    total: summed(statuses, engagements),
    days: days.map((day) => ({ day, ...summed(statusesOf.get(day) ?? [], engagementsOf.get(day) ?? []) })),
  };
}

function summed(counts: readonly DayCount[], engagements: readonly DayEngagement[]): EmailCounts {
  const of = (wanted: EmailStatus): number =>
    sumOf(counts.map(({ status, count }) => (status === wanted ? count : 0)));
  const byStatus = STATUSES.map((status) => [status.toLowerCase(), of(status)]);
  const shown = Object.fromEntries(byStatus) as Record<Lowercase<EmailStatus>, number>;
  return {
    accepted: sumOf(counts.map(({ count }) => count)),
    ...shown,
    opened: sumOf(engagements.map(({ opened }) => opened)),
    clicked: sumOf(engagements.map(({ clicked }) => clicked)),
  };
}

function sumOf(numbers: readonly number[]): number {
  return numbers.reduce((sum, number) => sum + number, 0);
}

function dayOf(moment: Date): string {
  return moment.toISOString().slice(0, 10);
}
