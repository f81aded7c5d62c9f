import { createHash } from 'node:crypto';
import { type WorkspaceId } from '@posthorn/kernel';
import { VERIFICATION_LINK_SECONDS } from '@posthorn/domain';
import { type NewLink, type WorkspaceStore } from '@posthorn/database';
import { hashSecret, hasSecretForm, newSecret } from '@posthorn/signing';
import { type SendSystemMail } from '../system/send-system-mail.ts';
import { verificationMail } from './verification-mail.ts';

const PREFIX = 'phv_';

/** A link that was just made; its token is in the mail and nowhere else. */
export interface FreshLink {
  readonly token: string;
  /** What is kept of it. */
  readonly kept: NewLink;
}

export interface SendVerificationLinkOptions {
  readonly systemMail: Pick<SendSystemMail, 'send' | 'from'>;
  readonly workspaces: Pick<WorkspaceStore, 'find'>;
  /** The address of the gateway as recipients see it, without a slash at its end. */
  readonly publicUrl: string;
}

/** Makes the links that verify addresses, and mails them. */
export class SendVerificationLink {
  constructor(private readonly options: SendVerificationLinkOptions) {}

  /** A new link. @throws Refusal (409) when this installation sends no mails of its own, so that it would be of no use */
  prepare(): FreshLink {
    void this.options.systemMail.from;
    const token = newSecret(PREFIX);
    return {
      token,
      kept: { tokenHash: hashSecret(token), lifetimeSeconds: VERIFICATION_LINK_SECONDS },
    };
  }

  /** Mails a link that is kept by now; resolves when the mail is durable. */
  async send(workspaceId: WorkspaceId, address: string, { token }: FreshLink): Promise<void> {
    const workspace = await this.options.workspaces.find(workspaceId);
    const link = `${this.options.publicUrl}/verify/identity/${token}`;
    const mail = verificationMail(address, workspace?.name ?? workspaceId, link);
    // The key must say nothing of the token, which opens the link.
    const idempotencyKey = `verification:${createHash('sha256').update(`mail ${token}`).digest('hex')}`;
    await this.options.systemMail.send({ ...mail, idempotencyKey });
  }
}

/** By what the link with this token is found; undefined when it cannot be the token of one. */
export function hashOfLinkToken(token: string): Buffer | undefined {
  return hasSecretForm(PREFIX, token) ? hashSecret(token) : undefined;
}
