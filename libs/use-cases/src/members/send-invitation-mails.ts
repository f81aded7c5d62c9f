import { type DatabaseClock, newUuid } from '@posthorn/kernel';
import type { NewInvitationMail, PendingMail } from '@posthorn/database';
import { hashSecret, newSecret } from '@posthorn/signing';
import type { SubmitPendingMails } from '../system/submit-pending-mails.ts';
import { invitationMail } from './invitation-mail.ts';

/** The prefix of the tokens in invitation links. */
export const INVITATION_PREFIX = 'phi_';

interface SendInvitationMailsOptions {
  readonly pendingMails: Pick<SubmitPendingMails, 'seal' | 'submit'>;
  readonly clock: DatabaseClock;
  /** The public URL of the gateway, without a trailing slash. */
  readonly publicUrl: string;
}

/** Creates the mails of invitations, each recorded as pending in the transaction of its invitation, and submits them. */
export class SendInvitationMails {
  constructor(private readonly options: SendInvitationMailsOptions) {}

  /**
   * Creates a mail with a new link.
   *
   * @throws Refusal (409) when this installation sends no mails of its own, because nobody would receive the link
   */
  write(email: string, workspaceName: string): NewInvitationMail {
    const { pendingMails, clock, publicUrl } = this.options;
    const token = newSecret(INVITATION_PREFIX);
    const id = newUuid(clock.nowMs());
    const mail = invitationMail(email, workspaceName, `${publicUrl}/invitations/${token}`);
    return { id, sealedMail: pendingMails.seal(id, mail), tokenHash: hashSecret(token) };
  }

  /** Submits a mail that is committed. Never rejects: a mail that fails stays pending. */
  submit(mail: PendingMail): Promise<boolean> {
    return this.options.pendingMails.submit(mail);
  }
}
