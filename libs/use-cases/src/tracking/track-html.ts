import type { ComposableEmail } from '@posthorn/database';
import { type LinkFinder, withTracking } from '@posthorn/rendering';
import type { TrackingLinks } from './tracking-links.ts';

interface TrackHtmlOptions {
  readonly finder: Pick<LinkFinder, 'find'>;
  readonly links: Pick<TrackingLinks, 'linkOf' | 'imageOf'>;
}

/** Adds open and click tracking to the HTML of an email, where requested. */
export class TrackHtml {
  constructor(private readonly options: TrackHtmlOptions) {}

  /** The HTML to send; always the same for the same email. @throws RenderingFailed when its links cannot be found in time */
  async track(
    email: Pick<ComposableEmail, 'id' | 'workspaceId' | 'trackClicks' | 'trackOpens' | 'trackingUrl'>,
    html: string,
  ): Promise<string> {
    const { id: emailId, workspaceId, trackClicks, trackOpens, trackingUrl } = email;
    if (!trackClicks && !trackOpens) return html;
    const { finder, links } = this.options;
    return withTracking(html, await finder.find(html, workspaceId), {
      ...(trackClicks ? { linkTo: (url) => links.linkOf({ emailId, trackingUrl }, url) } : {}),
      ...(trackOpens ? { image: links.imageOf({ emailId, trackingUrl }) } : {}),
    });
  }
}
