import { type EmailId, idFromUuid, uuidOf } from '@posthorn/kernel';
import { hostNameOf } from '@posthorn/domain';
import type { LinkSigner } from '@posthorn/signing';

interface TrackingLinksOptions {
  readonly signer: LinkSigner;
  /** The public URL of the gateway, without a trailing slash, for workspaces that have no tracking URL of their own. */
  readonly trackingUrl: string;
}

/** A link of an email, and its target. */
export interface TrackedLink {
  readonly emailId: EmailId;
  readonly url: string;
}

/** A link of an email that somebody has followed. */
export interface FollowedLink extends TrackedLink {
  /** Whether it was made for the host at which it was followed. */
  readonly namesHost: boolean;
}

/** An email, and the tracking URL of its workspace; null: the default one. */
interface TrackedEmail {
  readonly emailId: EmailId;
  readonly trackingUrl: string | null;
}

/** The links and images that track clicks and opens of emails. They are self-contained: resolving one needs no look-up. */
export class TrackingLinks {
  constructor(private readonly options: TrackingLinksOptions) {}

  /** The tracking link for a link of an email; undefined when it would be too long. It names the host that its workspace has of its own. */
  linkOf({ emailId, trackingUrl }: TrackedEmail, url: string): string | undefined {
    const host = trackingUrl === null ? undefined : hostNameOf(trackingUrl);
    const token = this.options.signer.signTarget({ uuid: uuidOf(emailId), url }, host);
    return token && `${trackingUrl ?? this.options.trackingUrl}/t/c/${token}`;
  }

  imageOf({ emailId, trackingUrl }: TrackedEmail): string {
    const token = this.options.signer.sign('open', uuidOf(emailId));
    return `${trackingUrl ?? this.options.trackingUrl}/t/o/${token}`;
  }

  /**
   * The link that a token was made for; undefined when the token is not valid.
   *
   * @param host the name of the host at which it was followed; undefined: it has none that a tracking URL can have
   */
  linkWith(token: string, host: string | undefined): FollowedLink | undefined {
    const signed = this.options.signer.verifyTarget(token, host);
    return (
      signed && { emailId: idFromUuid('trs', signed.uuid), url: signed.url, namesHost: signed.namesHost }
    );
  }

  /** The email whose tracking image a token was made for; undefined when the token is not valid. */
  emailWith(token: string): EmailId | undefined {
    const uuid = this.options.signer.verify('open', token);
    return uuid === undefined ? undefined : idFromUuid('trs', uuid);
  }
}
