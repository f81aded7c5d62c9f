import { AnswerField } from '../openapi/answer-field.ts';
import { count, nullable, objectOf, time } from '../openapi/answer-schemas.ts';

/** How much of the monthly limit is used. */
class Usage {
  @AnswerField(
    'The current month (UTC).',
    { type: 'string', pattern: '^\\d{4}-\\d{2}$' },
    { example: '2030-01' },
  )
  month!: string;

  @AnswerField('The emails accepted in this month, without the cancelled ones.', count, { example: 41_200 })
  used!: number;

  @AnswerField('How many may be accepted in a month; `null`: any number.', nullable(count), {
    example: 100_000,
  })
  limit!: number | null;

  @AnswerField('How many more may be accepted in this month; `null`: any number.', nullable(count), {
    example: 58_800,
  })
  remaining!: number | null;

  @AnswerField('When the next month begins.', time, { example: '2030-02-01T00:00:00.000Z' })
  resetsAt!: Date;
}

export class UsageAnswer {
  @AnswerField('The usage.', objectOf(Usage))
  usage!: Usage;
}
