import type { WebhookNotice } from '@posthorn/domain';
import type { PendingWebhookNotice } from '@posthorn/database';
import { mailBody } from '../system/mail-body.ts';
import type { MailDraft } from '../system/send-system-mail.ts';

const WORDS: Readonly<Record<WebhookNotice, { subject: string; what: string; then: string }>> = {
  FAILING: {
    subject: 'A webhook is failing',
    what: 'For three days its receiver has accepted nothing that was posted to it.',
    then: 'If that goes on until the fifth day, the webhook will be disabled. Repair its receiver, or delete the webhook if it is no longer needed.',
  },
  DISABLED_GONE: {
    subject: 'A webhook was disabled',
    what: 'Its receiver answered 410 Gone, which says that it is gone for good.',
    then: 'Nothing is posted to it any more. If that is a mistake, set its status to ACTIVE: what has happened meanwhile is held for 30 days and then posted.',
  },
  DISABLED_FAILING: {
    subject: 'A webhook was disabled',
    what: 'For five days its receiver has accepted nothing that was posted to it.',
    then: 'Nothing is posted to it any more. When its receiver is well again, set its status to ACTIVE: what has happened meanwhile is held for 30 days and then posted, and what was given up is tried again.',
  },
};

/** The mail that notifies the editors of a workspace of a change of one of its webhooks. */
export function webhookNoticeMail(
  { notice, webhookId, url, workspaceName }: PendingWebhookNotice,
  to: string,
): MailDraft {
  const { subject, what, then } = WORDS[notice];
  const which = `The webhook ${webhookId} of the workspace “${workspaceName}” leads to ${url ?? 'a URL that is not kept any more'}.`;
  return {
    to,
    subject: `${subject}: “${workspaceName}”`,
    ...mailBody([which, what, then]),
  };
}
