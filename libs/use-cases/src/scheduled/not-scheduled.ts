import { Refusal } from '@posthorn/kernel';
import type { EmailRecord } from '@posthorn/database';

/** The email cannot be changed, or not any more. */
export function notScheduled({ status }: Pick<EmailRecord, 'status'>, wish: 'moved' | 'cancelled'): Refusal {
  return new Refusal(
    409,
    `The email is \`${status}\`; only while it is \`SCHEDULED\`, before it is taken up for sending, can it be ${wish}`,
  );
}
