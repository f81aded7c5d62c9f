import { Refusal, SYSTEM_WORKSPACE_ID } from '@posthorn/kernel';
import { type Mailbox, POSTHORN, type RawEmailDraft } from '@posthorn/domain';
import type { IdentityStore } from '@posthorn/database';
import type { AcceptEmails } from '../accept/accept-emails.ts';
import { addIdentity } from '../operate/add-identity.ts';

/** A mail that Posthorn itself writes to somebody. */
export interface MailDraft {
  /** The bare address, already judged. */
  readonly to: string;
  readonly subject: string;
  readonly html: string;
  readonly text: string;
}

/** The same on its way. */
export interface SystemMail extends MailDraft {
  /** The same for the same mail: sent once, however often this is called with it. */
  readonly idempotencyKey: string;
}

interface SendSystemMailOptions {
  readonly acceptEmails: Pick<AcceptEmails, 'acceptOne'>;
  /** Undefined: the installation sends no mails of its own. */
  readonly from: Mailbox | undefined;
}

/** Sends Posthorn's own mails: accepted and delivered as any other email, in a workspace of their own. Nothing in them is tracked. */
export class SendSystemMail {
  constructor(private readonly options: SendSystemMailOptions) {}

  /** Whether this installation sends mails of its own. */
  get isPossible(): boolean {
    return this.options.from !== undefined;
  }

  /**
   * The sender of the mails; to be asked before something is changed that is of no use without its mail.
   *
   * @throws Refusal (409) when none is set
   */
  requireSender(): Mailbox {
    const { from } = this.options;
    if (from === undefined) throw noSystemMails();
    return from;
  }

  /**
   * Resolves when the mail is durable.
   *
   * @throws Refusal 409 when no sender is set, 503 when the database is out of reach
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

/** Lets Posthorn's own mails leave with their sender: an operator who sets it vouches for it. */
export async function admitSystemSender(
  identities: Pick<IdentityStore, 'put'>,
  from: Mailbox | undefined,
): Promise<void> {
  if (from === undefined) return;
  await addIdentity(identities, SYSTEM_WORKSPACE_ID, { address: from.address }, true, POSTHORN);
}

/** There is nobody whom a mail of Posthorn's own could be from. */
export function noSystemMails(): Refusal {
  return new Refusal(
    409,
    'This installation sends no mails of its own, and this needs one; its operator has to set `SYSTEM_FROM`',
  );
}
