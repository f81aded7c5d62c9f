import { type EmailId } from '@posthorn/kernel';
import { type RawEmailDraft } from '@posthorn/domain';

/**
 * The Email object of the interface (2.4) for an email that is accepted, as JSON: kept as text, because a repeated call
 * is answered with the same bytes.
 */
export function emailAnswer(
  id: EmailId,
  messageId: string,
  status: 'SENT' | 'SCHEDULED',
  draft: RawEmailDraft,
): string {
  return JSON.stringify({
    id,
    messageId,
    status,
    to: draft.to.address,
    type: draft.type,
    from: draft.from.address,
    subject: draft.subject,
    groupBy: draft.groupBy,
  });
}
