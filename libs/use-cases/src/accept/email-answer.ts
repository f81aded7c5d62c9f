import type { EventEmail } from '@posthorn/domain';
import type { AcceptableEmail } from '@posthorn/database';

/** All fields of an email in the interface, those that may be absent too: the compiler finds a field that would be forgotten. */
type AllFields = Record<keyof EventEmail, unknown>;

/** The Email object of the interface (F4) for an accepted email, as JSON text, because a repeated call is answered with the same bytes. */
export function emailAnswer(email: AcceptableEmail): string {
  const { id, messageId, status, to, type, groupBy } = email;
  const raw = email.type === 'raw' ? email : undefined;
  const templated = email.type === 'templated' ? email : undefined;
  return JSON.stringify({
    id,
    messageId,
    status,
    to: to.address,
    type,
    from: raw?.from.address,
    subject: raw?.subject,
    template: templated?.template,
    groupBy,
  } satisfies AllFields);
}
