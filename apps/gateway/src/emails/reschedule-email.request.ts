import { SCHEDULING_HORIZON_DAYS, SEND_AT_GRACE_MINUTES } from '@posthorn/domain';
import { Required } from '../validation/rule.ts';
import { timestamp } from '../validation/text-rules.ts';

/** The body of the call that moves an email. */
export class RescheduleEmailRequest {
  @Required(
    timestamp,
    `When to send instead: a date, a time and an offset or \`Z\`; at most ${SCHEDULING_HORIZON_DAYS} days ahead. A time less than ${SEND_AT_GRACE_MINUTES} minutes in the past means at once.`,
  )
  sendAt!: string;
}
