import { Optional, Required } from '../validation/rule.ts';
import { timeOrDay } from '../validation/text-rules.ts';

/** The body of the call that recovers failed deliveries. */
export class RecoverRequest {
  @Required(
    timeOrDay,
    'Only deliveries of events at this time or later; a day stands for its beginning (UTC).',
    {
      example: '2025-01-31T09:30:00Z',
    },
  )
  since!: string;

  @Optional(timeOrDay, 'Only deliveries of events before this time; now if absent.')
  until?: string;
}
