import { type EmailId, Refusal, type WorkspaceId } from '@posthorn/kernel';
import { type Actor, type EmailDraft, type JsonObject, parseJson } from '@posthorn/domain';
import type { ComposableEmail, EmailRecord, EmailStore } from '@posthorn/database';
import type { AcceptEmails } from '../accept/accept-emails.ts';
import { normaliseReason } from '../operate/normalise-name.ts';
import { contentRemoved, refusalOfErased } from '../send/preview-email.ts';

interface SendEmailAgainOptions {
  readonly emails: Pick<EmailStore, 'find' | 'findComposable'>;
  readonly accept: Pick<AcceptEmails, 'acceptOne'>;
}

/** Who sends an email again, and why. */
interface WantedCopy {
  readonly actor: Actor;
  /** For the audit log. */
  readonly reason: string;
  /** The idempotency key of the request: however often it is repeated, it creates one email. */
  readonly wish: string;
}

/** Sends an email again: as a new one, with its own id, that is validated like any other. The original is not changed. */
export class SendEmailAgain {
  constructor(private readonly options: SendEmailAgainOptions) {}

  /**
   * Accepts a copy of an email for the same recipient, due at once, and records it in the audit log in the same transaction.
   *
   * @returns its id; undefined when the workspace has no email with this id
   * @throws Refusal 409 while the original is still being sent, or when its content was removed, or its replies would go to somebody who was erased; 400 for
   * an invalid reason, or for an email that cannot be sent any more (the sender is not verified now, the template was deleted); 403 at the monthly limit
   */
  async sendAgain(workspaceId: WorkspaceId, id: EmailId, wanted: WantedCopy): Promise<EmailId | undefined> {
    const reason = normaliseReason(wanted.reason);
    const { emails, accept } = this.options;
    const [email, content] = await Promise.all([
      emails.find(workspaceId, id),
      emails.findComposable(workspaceId, id),
    ]);
    if (email === undefined) return undefined;
    if (email.status === 'SCHEDULED' || (email.status === 'SENT' && email.sentAt === null))
      throw stillBeingSent(email);
    if (content === undefined) throw contentRemoved();
    const erased = refusalOfErased(content);
    if (erased !== undefined) throw erased;
    const { answer } = await accept.acceptOne(workspaceId, draftOf(email, content, { ...wanted, reason }));
    return (JSON.parse(answer) as { id: EmailId }).id;
  }
}

/** The draft of a copy, with all fields, those that may be absent too: the compiler finds a field that would be forgotten. */
function draftOf(
  email: EmailRecord,
  composable: ComposableEmail,
  { actor, reason, wish }: WantedCopy,
): Required<EmailDraft> {
  const { id, groupBy } = email;
  const { to, trackClicks, trackOpens, unsubscribe, attachments } = composable;
  const traits = {
    to,
    trackClicks,
    trackOpens,
    unsubscribe,
    attachments: attachments.length > 0 ? attachments : undefined,
    copyOf: { id, actor, reason },
    groupBy: groupBy ?? undefined,
    sendAt: undefined,
    idempotencyKey: `sent-again/${id}/${wish}`,
    fingerprintSource: { copyOf: id, reason },
  };
  const { content, from, replyTo } = composable;
  if (content.type === 'templated') {
    const variables = parseJson(content.variables) as JsonObject;
    const { template } = email;
    return {
      ...traits,
      type: 'templated',
      template: template!,
      variables,
      replyTo: replyTo.length > 0 ? replyTo : undefined,
    };
  }
  const { subject, html, text, previewText } = content;
  return {
    ...traits,
    type: 'raw',
    from,
    replyTo,
    subject,
    html,
    text: text ?? undefined,
    previewText: previewText ?? undefined,
    contactProperties: undefined,
  };
}

function stillBeingSent({ status }: EmailRecord): Refusal {
  const what = status === 'SCHEDULED' ? 'is `SCHEDULED`' : 'has not left yet, and is tried again by itself';
  return new Refusal(409, `The email ${what}; it can be sent again once it has left or was given up`);
}
