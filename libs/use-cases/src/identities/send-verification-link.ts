import { type DatabaseClock, newUuid, type WorkspaceId } from '@posthorn/kernel';
import { VERIFICATION_LINK_SECONDS } from '@posthorn/domain';
import type { NewLink, OwedMail, WorkspaceStore } from '@posthorn/database';
import { hashSecret, newSecret } from '@posthorn/signing';
import type { SendOwedMails } from '../system/send-owed-mails.ts';
import { verificationMail } from './verification-mail.ts';

/** What the token in a link begins with. */
export const VERIFICATION_PREFIX = 'phv_';

interface SendVerificationLinkOptions {
  readonly owedMails: Pick<SendOwedMails, 'seal' | 'handOver'>;
  readonly workspaces: Pick<WorkspaceStore, 'find'>;
  readonly clock: Pick<DatabaseClock, 'nowMs'>;
  /** The address of the gateway as recipients see it, without a slash at its end. */
  readonly publicUrl: string;
}

/** Makes the links that verify addresses, each with a mail that is owed from its transaction on, and hands the mails over. */
export class SendVerificationLink {
  constructor(private readonly options: SendVerificationLinkOptions) {}

  /**
   * A new link, whose token is in its mail and nowhere else.
   *
   * @throws Refusal (409) when this installation sends no mails of its own, so that it would be of no use
   */
  async write(workspaceId: WorkspaceId, address: string): Promise<NewLink> {
    const { owedMails, workspaces, clock, publicUrl } = this.options;
    const workspace = await workspaces.find(workspaceId);
    const [id, token] = [newUuid(clock.nowMs()), newSecret(VERIFICATION_PREFIX)];
    const link = `${publicUrl}/verify/identity/${token}`;
    const mail = verificationMail(address, workspace?.name ?? workspaceId, link);
    return {
      id,
      tokenHash: hashSecret(token),
      lifetimeSeconds: VERIFICATION_LINK_SECONDS,
      sealedMail: owedMails.seal(id, mail),
    };
  }

  /** Hands over the mail of a link that is kept by now. Never rejects: what fails is owed still. */
  handOver(mail: OwedMail): Promise<boolean> {
    return this.options.owedMails.handOver(mail);
  }
}
