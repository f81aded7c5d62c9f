import { RECOVERY_STATES } from '@posthorn/domain';
import { count, idOf, nullable, objectOf, time } from '../openapi/answer-schemas.ts';
import { AnswerField, AnswerWord } from '../openapi/answer-field.ts';

/** A recovery of the deliveries that failed in a time range. */
export class Recovery {
  @AnswerField('The id of the recovery.', idOf('rcv'))
  id!: string;

  @AnswerField('The webhook whose deliveries they are.', idOf('wh'))
  webhookId!: string;

  @AnswerWord('RecoveryStatus', RECOVERY_STATES, { example: 'RUNNING' })
  status!: string;

  @AnswerField('The beginning of the period: deliveries of events at this time or later.', time, {
    example: '2030-01-30T00:00:00.000Z',
  })
  since!: Date;

  @AnswerField('The end of the period: deliveries of events before this time.', time)
  until!: Date;

  @AnswerField(
    'How many deliveries had failed when they were counted; it grows during the counting.',
    count,
    { example: 10_000 },
  )
  total!: number;

  @AnswerField(
    'How many were made due. At the end it can be less than `total`, if some have succeeded meanwhile.',
    count,
    { example: 4_000 },
  )
  done!: number;

  @AnswerField('When it was requested.', time)
  createdAt!: Date;

  @AnswerField('When all were made due; `null` before.', nullable(time), { example: null })
  finishedAt!: Date | null;
}

/** The answer that shows a recovery. */
export class RecoveryAnswer {
  @AnswerField('The recovery.', objectOf(Recovery))
  recovery!: Recovery;
}
