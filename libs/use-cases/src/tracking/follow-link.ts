import { Coalescer, within } from '@posthorn/kernel';
import { hostNameIn, hostNameOf } from '@posthorn/domain';
import type { LinkAtHost, TrackingHostStore } from '@posthorn/database';
import type { TrackedLink, TrackingLinks } from './tracking-links.ts';

interface FollowLinkOptions {
  readonly links: Pick<TrackingLinks, 'linkWith'>;
  readonly hosts: Pick<TrackingHostStore, 'admit'>;
  /** The base URL of links of workspaces that have no host of their own. */
  readonly trackingUrl: string;
  /** Called with each failure of a look-up; the link works nevertheless. */
  readonly onError: (error: unknown) => void;
}

const MAX_LINKS_PER_LOOKUP = 500;
/** Beyond this the database is hanging: what waits longer than its reader would take memory without end. */
const MAX_PENDING = 10_000;
/** How long a reader waits for the database, at most. */
const LOOKUP_MS = 500;

/**
 * Finds where a tracked link leads. At a workspace's own host, only the links of its emails work: anybody with a key can have a link signed that
 * leads anywhere, and would otherwise be believed to be that workspace.
 *
 * A link that names the host needs no look-up. Others do, unless the host is the installation's: the links of all work there, and at names that are
 * no workspace's, since a proxy may write another one into `Host`. Concurrent look-ups share a statement.
 */
export class FollowLink {
  private readonly lookUps: Coalescer<LinkAtHost, boolean>;
  private readonly sharedHost: string;

  constructor(private readonly options: FollowLinkOptions) {
    this.sharedHost = hostNameOf(options.trackingUrl);
    this.lookUps = new Coalescer({
      serve: (links) => options.hosts.admit(links),
      maxItems: MAX_LINKS_PER_LOOKUP,
    });
  }

  /**
   * @param hostHeader the `Host` of the request
   * @returns undefined when the token is not valid, or not at this host
   */
  async follow(token: string, hostHeader: string | undefined): Promise<TrackedLink | undefined> {
    const host = hostNameIn(hostHeader);
    const link = this.options.links.linkWith(token, host);
    if (link === undefined || link.namesHost || host === undefined || host === this.sharedHost) return link;
    return (await this.isAdmitted({ host, emailId: link.emailId })) ? link : undefined;
  }

  /** Without the database links work, because that is what all the others rely on. */
  private async isAdmitted(link: LinkAtHost): Promise<boolean> {
    if (this.lookUps.pending >= MAX_PENDING) return true;
    try {
      return (await within(this.lookUps.add(link), LOOKUP_MS)) ?? true;
    } catch (error) {
      this.options.onError(error);
      return true;
    }
  }
}
