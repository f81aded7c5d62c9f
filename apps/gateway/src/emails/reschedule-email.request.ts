import { Required } from '../validation/rule.ts';
import { timestamp } from '../validation/text-rules.ts';

/** The body of the call that moves an email. */
export class RescheduleEmailRequest {
  @Required(
    timestamp,
    'When to send instead: a date, a time and an offset or `Z`; at most 90 days ahead. A time less than 5 minutes in the past means at once.',
  )
  sendAt!: string;
}
