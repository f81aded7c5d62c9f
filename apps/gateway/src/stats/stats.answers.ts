import { type JsonSchema } from '../openapi/json-schema.ts';
import { count, listOf, nullable, objectOf, text } from '../openapi/answer-schemas.ts';
import { Shown } from '../openapi/shown.ts';

const calendarDay: JsonSchema = { type: 'string', format: 'date', examples: ['2030-01-31'] };

/** How many emails were accepted, and how many of them have which status now. */
export class EmailCounts {
  @Shown('All that were accepted: the sum of the others.', count, { example: 120 })
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
