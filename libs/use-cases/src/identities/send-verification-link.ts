import { type DatabaseClock, newUuid, type WorkspaceId } from '@posthorn/kernel';
import { VERIFICATION_LINK_SECONDS } from '@posthorn/domain';
import type { NewLink, PendingMail, WorkspaceStore } from '@posthorn/database';
import { hashSecret, newSecret } from '@posthorn/signing';
import type { SubmitPendingMails } from '../system/submit-pending-mails.ts';
import { verificationMail } from './verification-mail.ts';

/** The prefix of the tokens in verification links. */
export const VERIFICATION_PREFIX = 'phv_';

interface SendVerificationLinkOptions {
  readonly pendingMails: Pick<SubmitPendingMails, 'seal' | 'submit'>;
  readonly workspaces: Pick<WorkspaceStore, 'find'>;
  readonly clock: Pick<DatabaseClock, 'nowMs'>;
  /** The public URL of the gateway, without a trailing slash. */
  readonly publicUrl: string;
}

/** Creates verification links, each with a mail that is recorded as pending in the same transaction, and submits these mails. */
export class SendVerificationLink {
  constructor(private readonly options: SendVerificationLinkOptions) {}

  /**
   * Creates a link, whose token is only in its mail.
   *
   * @throws Refusal (409) when this installation sends no mails of its own, because nobody would receive the link
   */
  async write(workspaceId: WorkspaceId, address: string): Promise<NewLink> {
    const { pendingMails, workspaces, clock, publicUrl } = this.options;
    const workspace = await workspaces.find(workspaceId);
    const [id, token] = [newUuid(clock.nowMs()), newSecret(VERIFICATION_PREFIX)];
    const link = `${publicUrl}/verify/identity/${token}`;
    const mail = verificationMail(address, workspace?.name ?? workspaceId, link);
    return {
      id,
      tokenHash: hashSecret(token),
      lifetimeSeconds: VERIFICATION_LINK_SECONDS,
      sealedMail: pendingMails.seal(id, mail),
    };
  }

  /** Submits the mail of a link that is committed. Never rejects: a mail that fails stays pending. */
  submit(mail: PendingMail): Promise<boolean> {
    return this.options.pendingMails.submit(mail);
  }
}
