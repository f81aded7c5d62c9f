import { type DatabaseClock, newUuid, type WorkspaceId } from '@posthorn/kernel';
import type { LinkMail, WorkspaceStore } from '@posthorn/database';
import { hashSecret, newSecret, type SecretPrefix } from '@posthorn/signing';
import type { MailDraft } from './send-system-mail.ts';
import type { SubmitPendingMails } from './submit-pending-mails.ts';

/** A kind of links by which whoever has the mail consents to something. */
export interface LinkKind {
  /** The prefix of their tokens. */
  readonly prefix: SecretPrefix;
  /** The path of the page that they lead to; the token follows. */
  readonly path: string;
  readonly mailOf: (address: string, workspaceName: string, link: string) => MailDraft;
}

interface SendLinkOptions {
  readonly pendingMails: Pick<SubmitPendingMails, 'seal' | 'submit'>;
  readonly workspaces: Pick<WorkspaceStore, 'find'>;
  readonly clock: Pick<DatabaseClock, 'nowMs'>;
  /** The public URL of the gateway, without a trailing slash. */
  readonly publicUrl: string;
}

/** Creates links, each with a mail that is recorded as pending in the same transaction, and submits these mails. */
export class SendLink {
  constructor(
    private readonly kind: LinkKind,
    private readonly options: SendLinkOptions,
  ) {}

  /**
   * Creates a link, whose token is only in its mail.
   *
   * @throws Refusal (409) when this installation sends no mails of its own, because nobody would receive the link
   */
  async write(workspaceId: WorkspaceId, address: string): Promise<LinkMail> {
    const { pendingMails, workspaces, clock, publicUrl } = this.options;
    const { prefix, path, mailOf } = this.kind;
    const workspace = await workspaces.find(workspaceId);
    const [id, token] = [newUuid(clock.nowMs()), newSecret(prefix)];
    const mail = mailOf(address, workspace?.name ?? workspaceId, `${publicUrl}${path}${token}`);
    return { id, sealedMail: pendingMails.seal(id, mail), tokenHash: hashSecret(token) };
  }

  /** Submits the mail of a link that is committed. Never rejects: a mail that fails stays pending. */
  submit(mail: LinkMail): Promise<boolean> {
    return this.options.pendingMails.submit(mail);
  }
}
