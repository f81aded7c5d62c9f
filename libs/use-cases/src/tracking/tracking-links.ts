import { type EmailId, idFromUuid, uuidOf } from '@posthorn/kernel';
import type { LinkSigner } from '@posthorn/signing';

interface TrackingLinksOptions {
  readonly signer: LinkSigner;
  /** The address by which recipients reach the gateway, without a slash at its end; of workspaces that have none of their own. */
  readonly trackingUrl: string;
}

/** A link of an email, and where it leads. */
export interface TrackedLink {
  readonly emailId: EmailId;
  readonly url: string;
}

/** An email, and the address by which its workspace wants recipients to reach the gateway; null: the one of all. */
interface TrackedEmail {
  readonly emailId: EmailId;
  readonly trackingUrl: string | null;
}

/** The links and images by which it is noticed that emails are opened and clicked. What they say they say by themselves: nothing is looked up. */
export class TrackingLinks {
  constructor(private readonly options: TrackingLinksOptions) {}

  /** What a link of an email becomes; undefined when it is too long to lead by way of us. */
  linkOf({ emailId, trackingUrl }: TrackedEmail, url: string): string | undefined {
    const token = this.options.signer.signTarget({ uuid: uuidOf(emailId), url });
    return token && `${trackingUrl ?? this.options.trackingUrl}/t/c/${token}`;
  }

  /** The image at the end of an email. */
  imageOf({ emailId, trackingUrl }: TrackedEmail): string {
    const token = this.options.signer.sign('open', uuidOf(emailId));
    return `${trackingUrl ?? this.options.trackingUrl}/t/o/${token}`;
  }

  /** The link that a token was made for; undefined when it is none of ours. */
  linkWith(token: string): TrackedLink | undefined {
    const signed = this.options.signer.verifyTarget(token);
    return signed && { emailId: idFromUuid('trs', signed.uuid), url: signed.url };
  }

  /** The email whose image a token was made for; undefined when it is none of ours. */
  emailWith(token: string): EmailId | undefined {
    const uuid = this.options.signer.verify('open', token);
    return uuid === undefined ? undefined : idFromUuid('trs', uuid);
  }
}
