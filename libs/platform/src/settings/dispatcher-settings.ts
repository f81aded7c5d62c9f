import { IsWholeNumber } from './is-whole-number.ts';
import { Setting } from './setting.ts';

/** How events are posted to webhooks. */
export class DispatcherSettings {
  @Setting('How many deliveries this process posts at once to receivers that answer in time.')
  @IsWholeNumber(1, 1_000)
  WEBHOOK_CONNECTIONS = 100;

  @Setting(
    'How many deliveries this process posts at once to slow receivers; these do not count towards `WEBHOOK_CONNECTIONS`.',
  )
  @IsWholeNumber(1, 1_000)
  WEBHOOK_SLOW_CONNECTIONS = 200;

  @Setting(
    'How long a delivery may take in total, from looking up the name to the headers of the response, in milliseconds. A process that is told to stop finishes the deliveries that it has begun.',
  )
  @IsWholeNumber(500, 20_000)
  WEBHOOK_DEADLINE_MS = 15_000;
}
