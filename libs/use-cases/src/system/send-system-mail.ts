import { Refusal, SYSTEM_WORKSPACE_ID } from '@posthorn/kernel';
import { type Mailbox, POSTHORN, type RawEmailDraft } from '@posthorn/domain';
import type { IdentityStore } from '@posthorn/database';
import type { AcceptEmails } from '../accept/accept-emails.ts';
import { addIdentity } from '../operate/add-identity.ts';

/** A mail written by Posthorn itself. */
export interface MailDraft {
  /** The bare address, already validated. */
  readonly to: string;
  readonly subject: string;
  readonly html: string;
  readonly text: string;
}

/** Such a mail, ready to be submitted. */
export interface SystemMail extends MailDraft {
  /** Always the same for the same mail, so that it is sent only once. */
  readonly idempotencyKey: string;
}

interface SendSystemMailOptions {
  readonly acceptEmails: Pick<AcceptEmails, 'acceptOne'>;
  /** Undefined: the installation sends no mails of its own. */
  readonly from: Mailbox | undefined;
}

/** Sends Posthorn's own mails: accepted and delivered like any other email, in a workspace of their own. They are not tracked. */
export class SendSystemMail {
  constructor(private readonly options: SendSystemMailOptions) {}

  /** Whether this installation sends mails of its own. */
  get isPossible(): boolean {
    return this.options.from !== undefined;
  }

  /**
   * The sender of the mails; to be called before a change that is useless without its mail.
   *
   * @throws Refusal (409) when none is configured
   */
  requireSender(): Mailbox {
    const { from } = this.options;
    if (from === undefined) throw noSystemMails();
    return from;
  }

  /**
   * Resolves when the mail is durable.
   *
   * @throws Refusal 409 when no sender is configured, 503 when the database is unavailable
   */
  async send({ to, subject, html, text, idempotencyKey }: SystemMail): Promise<void> {
    const draft: RawEmailDraft = {
      type: 'raw',
      from: this.requireSender(),
      to: { address: to },
      subject,
      html,
      text,
      idempotencyKey,
      replyTo: [],
      trackClicks: false,
      trackOpens: false,
      fingerprintSource: { to, subject, html, text },
    };
    await this.options.acceptEmails.acceptOne(SYSTEM_WORKSPACE_ID, draft);
  }
}

/** Adds the configured sender of Posthorn's own mails as a verified identity: an operator who configures it vouches for it. */
export async function admitSystemSender(
  identities: Pick<IdentityStore, 'put'>,
  from: Mailbox | undefined,
): Promise<void> {
  if (from === undefined) return;
  await addIdentity(identities, SYSTEM_WORKSPACE_ID, POSTHORN, { address: from.address, verified: true });
}

/** No sender is configured for Posthorn's own mails. */
export function noSystemMails(): Refusal {
  return new Refusal(
    409,
    'This installation sends no mails of its own, and this needs one; its operator has to set `SYSTEM_FROM`',
  );
}
