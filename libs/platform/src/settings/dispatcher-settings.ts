import { IsInt, Max, Min } from 'class-validator';
import { Setting } from './setting.ts';

/** How events are posted to webhooks. */
export class DispatcherSettings {
  @Setting('How many deliveries this process posts at once to receivers that answer in time.')
  @IsInt()
  @Min(1)
  @Max(1_000)
  WEBHOOK_CONNECTIONS = 100;

  @Setting(
    'How many deliveries this process posts at once to receivers that let it wait; they take no places of the others.',
  )
  @IsInt()
  @Min(1)
  @Max(1_000)
  WEBHOOK_SLOW_CONNECTIONS = 50;

  @Setting(
    'How long a delivery may take with everything, from looking up the name to the header of the answer, in milliseconds. A process that is told to stop waits for those that it has begun.',
  )
  @IsInt()
  @Min(500)
  @Max(20_000)
  WEBHOOK_DEADLINE_MS = 15_000;
}
