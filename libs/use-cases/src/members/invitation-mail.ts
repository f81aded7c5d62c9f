import { escapeHtml } from '@posthorn/kernel';
import { INVITATION_DAYS } from '@posthorn/domain';
import type { SystemMail } from '../system/send-system-mail.ts';

/**
 * The mail that asks somebody to become a member. Of what a caller chose it shows nothing: it goes to whatever address a
 * caller names, and must not carry a stranger's words there.
 */
export function invitationMail(
  email: string,
  workspaceName: string,
  link: string,
): Omit<SystemMail, 'idempotencyKey'> {
  const question = `You are invited to become a member of the workspace “${workspaceName}”.`;
  const consent = `If you want that, open this link and press the button. It is good for ${INVITATION_DAYS} days, and once.`;
  const otherwise = 'If you do not expect this, do nothing: without your consent nothing happens.';
  return {
    to: email,
    subject: `You are invited to “${workspaceName}”`,
    text: [question, consent, link, otherwise].join('\n\n'),
    html:
      `<p>${escapeHtml(question)}</p><p>${consent}</p>` +
      `<p><a href="${escapeHtml(link)}">${escapeHtml(link)}</a></p><p>${otherwise}</p>`,
  };
}
