import type { JsonSchema } from '../openapi/json-schema.ts';
import { count, listOf, nullable, objectOf, text } from '../openapi/answer-schemas.ts';
import { AnswerField } from '../openapi/answer-field.ts';

const calendarDay: JsonSchema = { type: 'string', format: 'date', examples: ['2030-01-31'] };

/** The numbers of emails accepted, by current status, and of those opened and clicked. */
export class EmailCounts {
  @AnswerField('All accepted emails: the sum of all statuses.', count, { example: 120 })
  accepted!: number;

  @AnswerField('Those that are `SCHEDULED`.', count, { example: 2 })
  scheduled!: number;

  @AnswerField('Those that are `SENT`.', count, { example: 112 })
  sent!: number;

  @AnswerField('Those that are `DELIVERED`.', count, { example: 0 })
  delivered!: number;

  @AnswerField('Those that are `BOUNCED`.', count, { example: 4 })
  bounced!: number;

  @AnswerField('Those that are `COMPLAINED`.', count, { example: 0 })
  complained!: number;

  @AnswerField('Those that are `FAILED`.', count, { example: 1 })
  failed!: number;

  @AnswerField('Those that are `SUPPRESSED`.', count, { example: 0 })
  suppressed!: number;

  @AnswerField('Those that are `CANCELLED`.', count, { example: 1 })
  cancelled!: number;

  @AnswerField('Those that a person has opened, as far as that can be known; once each.', count, {
    example: 64,
  })
  opened!: number;

  @AnswerField('Those in which a person has clicked a link; once each.', count, { example: 23 })
  clicked!: number;
}

/** The counts of one day. */
class DayStats extends EmailCounts {
  @AnswerField('The day of acceptance (UTC).', calendarDay)
  day!: string;
}

/** Statistics of emails. */
export class Stats {
  @AnswerField('The first day that is counted (UTC).', calendarDay)
  from!: string;

  @AnswerField('The last day that is counted (UTC).', calendarDay)
  to!: string;

  @AnswerField('The group that is counted; `null`: all emails.', nullable(text), {
    example: 'order-receipts',
  })
  groupBy!: string | null;

  @AnswerField('All days together.', objectOf(EmailCounts))
  total!: EmailCounts;

  @AnswerField('Each day in ascending order, including days without emails.', listOf(DayStats))
  days!: DayStats[];
}

/** The answer with statistics. */
export class StatsAnswer {
  @AnswerField('The statistics.', objectOf(Stats))
  stats!: Stats;
}
