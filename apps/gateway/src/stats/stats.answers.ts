import type { JsonSchema } from '../openapi/json-schema.ts';
import { count, listOf, nullable, objectOf, text } from '../openapi/answer-schemas.ts';
import { Shown } from '../openapi/shown.ts';

const calendarDay: JsonSchema = { type: 'string', format: 'date', examples: ['2030-01-31'] };

/** How many emails were accepted, how many of them have which status now, and how many were opened and clicked. */
export class EmailCounts {
  @Shown('All that were accepted: the sum of all statuses.', count, { example: 120 })
  accepted!: number;

  @Shown('Those that are `SCHEDULED`.', count, { example: 2 })
  scheduled!: number;

  @Shown('Those that are `SENT`.', count, { example: 112 })
  sent!: number;

  @Shown('Those that are `DELIVERED`.', count, { example: 0 })
  delivered!: number;

  @Shown('Those that are `BOUNCED`.', count, { example: 4 })
  bounced!: number;

  @Shown('Those that are `COMPLAINED`.', count, { example: 0 })
  complained!: number;

  @Shown('Those that are `FAILED`.', count, { example: 1 })
  failed!: number;

  @Shown('Those that are `SUPPRESSED`.', count, { example: 0 })
  suppressed!: number;

  @Shown('Those that are `CANCELLED`.', count, { example: 1 })
  cancelled!: number;

  @Shown('Those that a person has opened, as far as that can be known; once each.', count, { example: 64 })
  opened!: number;

  @Shown('Those in which a person has clicked a link; once each.', count, { example: 23 })
  clicked!: number;
}

/** The counts of one day. */
export class DayStats extends EmailCounts {
  @Shown('The day of acceptance (UTC).', calendarDay)
  day!: string;
}

/** Statistics of emails. */
export class Stats {
  @Shown('The first day that is counted (UTC).', calendarDay)
  from!: string;

  @Shown('The last day that is counted (UTC).', calendarDay)
  to!: string;

  @Shown('The group that is counted; `null`: all emails.', nullable(text), { example: 'order-receipts' })
  groupBy!: string | null;

  @Shown('All days together.', objectOf(EmailCounts))
  total!: EmailCounts;

  @Shown('Each day, the first one first, also those without emails.', listOf(DayStats))
  days!: DayStats[];
}

/** The answer with statistics. */
export class StatsAnswer {
  @Shown('The statistics.', objectOf(Stats))
  stats!: Stats;
}
