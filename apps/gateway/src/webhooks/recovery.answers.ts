import { RECOVERY_STATES } from '@posthorn/domain';
import { count, idOf, nullable, objectOf, time, wordOf } from '../openapi/answer-schemas.ts';
import { Shown } from '../openapi/shown.ts';

/** What failed in a time, and is made due again. */
export class Recovery {
  @Shown('The id of the recovery.', idOf('rcv'))
  id!: string;

  @Shown('The webhook whose deliveries they are.', idOf('wh'))
  webhookId!: string;

  @Shown(
    `How it stands: ${Object.entries(RECOVERY_STATES)
      .map(([state, meaning]) => `\`${state}\`, ${meaning}`)
      .join('; ')}.`,
    wordOf(Object.keys(RECOVERY_STATES)),
    { example: 'RUNNING' },
  )
  status!: string;

  @Shown('Of events at this time or later.', time, { example: '2030-01-30T00:00:00.000Z' })
  since!: Date;

  @Shown('Of events before this time.', time)
  until!: Date;

  @Shown('How many deliveries had failed when they were counted; it grows while they are.', count, {
    example: 10_000,
  })
  total!: number;

  @Shown(
    'How many were made due. At the end it can be less than `total`: some had succeeded meanwhile.',
    count,
    {
      example: 4_000,
    },
  )
  done!: number;

  @Shown('When it was asked for.', time)
  createdAt!: Date;

  @Shown('When all were made due; `null` before.', nullable(time), { example: null })
  finishedAt!: Date | null;
}

/** The answer that shows a recovery. */
export class RecoveryAnswer {
  @Shown('The recovery.', objectOf(Recovery))
  recovery!: Recovery;
}
