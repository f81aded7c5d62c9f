import { type EmailId, idFromUuid, uuidOf } from '@posthorn/kernel';
import type { LinkSigner } from '@posthorn/signing';

interface UnsubscribeLinksOptions {
  readonly signer: LinkSigner;
  /** The address of the gateway as recipients see it, without a slash at its end. */
  readonly publicUrl: string;
}

/** The links by which recipients unsubscribe: each is about one email, and so about its recipient. */
export class UnsubscribeLinks {
  constructor(private readonly options: UnsubscribeLinksOptions) {}

  /** The link in an email. */
  urlOf(id: EmailId): string {
    return this.urlWith(this.options.signer.sign('unsubscribe', uuidOf(id)));
  }

  /** What stands for a link where there is no email: it leads to a page that says that it is about nothing. */
  get example(): string {
    return this.urlWith('example');
  }

  /** The email that the link with this token is in; undefined when the token is none of ours. */
  emailOf(token: string): EmailId | undefined {
    const uuid = this.options.signer.verify('unsubscribe', token);
    return uuid === undefined ? undefined : idFromUuid('trs', uuid);
  }

  private urlWith(token: string): string {
    return `${this.options.publicUrl}/unsubscribe/${token}`;
  }
}
