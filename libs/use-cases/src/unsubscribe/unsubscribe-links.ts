import { type EmailId, idFromUuid, uuidOf } from '@posthorn/kernel';
import type { LinkSigner, SignedAddresses } from '@posthorn/signing';

interface UnsubscribeLinksOptions {
  readonly signer: LinkSigner;
  /** The public URL of the gateway, without a trailing slash. */
  readonly publicUrl: string;
  /** By which recipients unsubscribe with a mail; undefined: nothing receives it. */
  readonly addresses: Pick<SignedAddresses, 'addressFor'> | undefined;
}

/** The links by which recipients unsubscribe; each identifies one email, and so its recipient. */
export class UnsubscribeLinks {
  constructor(private readonly options: UnsubscribeLinksOptions) {}

  /** The link in an email. */
  urlOf(id: EmailId): string {
    return this.urlWith(this.options.signer.sign('unsubscribe', uuidOf(id)));
  }

  /** The same as a `mailto:` URL, for mail clients that use no other; undefined: no mail is received. */
  mailtoOf(id: EmailId): string | undefined {
    const address = this.options.addresses?.addressFor(id);
    return address && `mailto:${address}?subject=unsubscribe`;
  }

  /** A placeholder link for content without an email: the page that it leads to says that the link is not valid. */
  get example(): string {
    return this.urlWith('example');
  }

  /** The email that contains the link with this token; undefined when the token is not valid. */
  emailOf(token: string): EmailId | undefined {
    const uuid = this.options.signer.verify('unsubscribe', token);
    return uuid === undefined ? undefined : idFromUuid('trs', uuid);
  }

  private urlWith(token: string): string {
    return `${this.options.publicUrl}/unsubscribe/${token}`;
  }
}
