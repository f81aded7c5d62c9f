import { type DatabaseClock, newUuid } from '@posthorn/kernel';
import type { NewInvitationMail, OwedMail } from '@posthorn/database';
import { hashSecret, newSecret } from '@posthorn/signing';
import type { SendOwedMails } from '../system/send-owed-mails.ts';
import { invitationMail } from './invitation-mail.ts';

/** What the token in a link begins with. */
export const INVITATION_PREFIX = 'phi_';

interface SendInvitationMailsOptions {
  readonly owedMails: Pick<SendOwedMails, 'seal' | 'handOver'>;
  readonly clock: DatabaseClock;
  /** The address of the gateway as recipients see it, without a slash at its end. */
  readonly publicUrl: string;
}

/** Writes the mails of invitations, each of which is owed from the transaction of its invitation on, and hands them over. */
export class SendInvitationMails {
  constructor(private readonly options: SendInvitationMailsOptions) {}

  /**
   * Writes a mail with a new link.
   *
   * @throws Refusal (409) when this installation sends no mails of its own, so that it would be of no use
   */
  write(email: string, workspaceName: string): NewInvitationMail {
    const { owedMails, clock, publicUrl } = this.options;
    const token = newSecret(INVITATION_PREFIX);
    const id = newUuid(clock.nowMs());
    const mail = invitationMail(email, workspaceName, `${publicUrl}/invitations/${token}`);
    return { id, sealedMail: owedMails.seal(id, mail), tokenHash: hashSecret(token) };
  }

  /** Hands over a mail that is written down by now. Never rejects: what fails is owed still. */
  handOver(mail: OwedMail): Promise<boolean> {
    return this.options.owedMails.handOver(mail);
  }
}
