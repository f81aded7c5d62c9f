import type { IdentityId, WorkspaceId } from '@posthorn/kernel';
import type { Actor } from '@posthorn/domain';
import type {
  DomainCheckStore,
  IdentityChanges,
  IdentityStore,
  IdentityWithRecords,
  VerificationLinkStore,
} from '@posthorn/database';
import { CHECK_LEASE_SECONDS, type CheckDomain } from './check-domain.ts';
import type { DkimKeyMaker } from './dkim-key-maker.ts';
import { tooManyMails } from './identity-refusals.ts';
import type { SendLink } from '../system/send-link.ts';

/** A domain checked this recently is not looked up again, so that repeated requests do not flood other people's name servers. */
const REST_SECONDS = 5;

interface VerifyIdentityOptions {
  readonly identities: Pick<IdentityStore, 'find'>;
  readonly changes: Pick<IdentityChanges, 'giveKeys'>;
  readonly checks: Pick<DomainCheckStore, 'claim'>;
  readonly storedLinks: Pick<VerificationLinkStore, 'issue'>;
  readonly keys: Pick<DkimKeyMaker, 'make'>;
  readonly links: Pick<SendLink, 'write' | 'submit'>;
  readonly checkDomain: Pick<CheckDomain, 'check'>;
}

/** Starts the verification of an identity at once: checks the records of a domain, or mails another link to an address. */
export class VerifyIdentity {
  /** The checks under way. Concurrent requests wait for the same one, because each further check would discard the result of the one before. */
  private readonly underWay = new Map<IdentityId, Promise<void>>();

  constructor(private readonly options: VerifyIdentityOptions) {}

  /**
   * @returns the identity afterwards; undefined when the workspace has none with this id
   * @throws Refusal 409 when no mails can be sent, 429 when too many were requested, 503 when too many keys are being generated
   */
  async verify(
    workspaceId: WorkspaceId,
    actor: Actor,
    id: IdentityId,
  ): Promise<IdentityWithRecords | undefined> {
    const { identities } = this.options;
    const identity = await identities.find(workspaceId, id);
    if (identity === undefined) return undefined;
    if (identity.kind === 'domain') await this.lookOnce(identity, actor);
    else if (identity.verifiedAt === null) await this.mailLink(identity);
    return identities.find(workspaceId, id);
  }

  private lookOnce(domain: IdentityWithRecords, actor: Actor): Promise<void> {
    const { id } = domain;
    const look = this.underWay.get(id) ?? this.lookAt(domain, actor).finally(() => this.underWay.delete(id));
    this.underWay.set(id, look);
    return look;
  }

  private async lookAt(domain: IdentityWithRecords, actor: Actor): Promise<void> {
    const { changes, checks, checkDomain, keys } = this.options;
    const { workspaceId, id } = domain;
    // The domain was added by an operator.
    if (domain.check === null) await changes.giveKeys(workspaceId, id, await keys.make(workspaceId, id));
    const times = { leaseSeconds: CHECK_LEASE_SECONDS, restSeconds: REST_SECONDS };
    const claimed = await checks.claim(workspaceId, id, times);
    if (claimed !== undefined) await checkDomain.check(claimed, actor);
  }

  private async mailLink({ workspaceId, id, value }: IdentityWithRecords): Promise<void> {
    const { links, storedLinks } = this.options;
    const link = await links.write(workspaceId, value);
    const issued = await storedLinks.issue(workspaceId, id, value, link);
    if (issued === 'added') await links.submit(link);
    else if (issued !== 'unneeded') throw tooManyMails(issued);
  }
}
