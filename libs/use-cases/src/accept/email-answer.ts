import type { AcceptableEmail } from '@posthorn/database';

/** The Email object of the interface (F4) for an accepted email, as JSON text, because a repeated call is answered with the same bytes. */
export function emailAnswer(email: AcceptableEmail): string {
  const { id, messageId, status, to, type, groupBy } = email;
  return JSON.stringify({
    id,
    messageId,
    status,
    to: to.address,
    type,
    ...(email.type === 'raw'
      ? { from: email.from.address, subject: email.subject }
      : { template: email.template }),
    groupBy,
  });
}
