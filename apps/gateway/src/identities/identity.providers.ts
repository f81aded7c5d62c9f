import type { Provider } from '@nestjs/common';
import {
  type Database,
  DkimKeyChanges,
  DomainCheckStore,
  IdentityChanges,
  IdentityStore,
  VerificationLinkStore,
  WorkspaceStore,
} from '@posthorn/database';
import type { DnsResolver } from '@posthorn/dns';
import { providersOf } from '@posthorn/platform';
import type { SecretBox } from '@posthorn/signing';
import {
  CheckDomain,
  ConfirmAddress,
  CreateIdentity,
  DkimKeyMaker,
  RotateKeys,
  SendLink,
  type SubmitPendingMails,
  VERIFICATION_LINK,
  VerifyIdentity,
} from '@posthorn/use-cases';
import { IdentityViews } from './identity-views.ts';

export interface IdentityParts {
  readonly database: Database;
  readonly secretBox: SecretBox;
  readonly resolver: DnsResolver;
  /** What the SPF records of domains must include; undefined: not configured. */
  readonly spfInclude: string | undefined;
  /** The public URL of the gateway, without a trailing slash. */
  readonly publicUrl: string;
}

/** The providers of the routes of identities. */
export function identityProviders(parts: IdentityParts, pendingMails: SubmitPendingMails): Provider[] {
  const { database, secretBox, resolver, spfInclude, publicUrl } = parts;
  const { clock } = database;
  const identities = new IdentityStore(database);
  const changes = new IdentityChanges(database);
  const checks = new DomainCheckStore(database);
  const storedLinks = new VerificationLinkStore(database);
  const keys = new DkimKeyMaker({ secretBox, clock });
  const workspaces = new WorkspaceStore(database);
  const links = new SendLink(VERIFICATION_LINK, { pendingMails, workspaces, clock, publicUrl });
  const checkDomain = new CheckDomain({ checks, resolver, spfInclude, clock });
  return providersOf(
    new IdentityViews(spfInclude, clock),
    identities,
    changes,
    new CreateIdentity({ changes, keys, links, clock }),
    new VerifyIdentity({ identities, changes, checks, storedLinks, keys, links, checkDomain }),
    new RotateKeys({ identities, changes: new DkimKeyChanges(database), keys, clock }),
    new ConfirmAddress(storedLinks),
  );
}
