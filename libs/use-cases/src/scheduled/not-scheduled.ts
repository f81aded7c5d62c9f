import { Refusal } from '@posthorn/kernel';
import { MAX_MOVES } from '@posthorn/domain';
import type { EmailRecord } from '@posthorn/database';

/** The email cannot be moved any more, but still cancelled. */
export const MOVED_TOO_OFTEN = new Refusal(
  409,
  `The email was moved ${MAX_MOVES} times, and cannot be moved again; cancel it and send another one`,
);

/** The email cannot be changed, or not any more. */
export function notScheduled({ status }: Pick<EmailRecord, 'status'>, wish: 'moved' | 'cancelled'): Refusal {
  return new Refusal(
    409,
    `The email is \`${status}\`; only while it is \`SCHEDULED\`, before it is taken up for sending, can it be ${wish}`,
  );
}
