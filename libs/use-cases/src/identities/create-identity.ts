import { type IdentityId, newId, type WorkspaceId } from '@posthorn/kernel';
import type { Actor } from '@posthorn/domain';
import type { Identity, IdentityChanges } from '@posthorn/database';
import type { DkimKeyMaker } from './dkim-key-maker.ts';
import { identityRefusal } from './identity-refusals.ts';
import { addressIn, domainIn, type IdentityValue } from './identity-value.ts';
import type { SendLink } from '../system/send-link.ts';

interface CreateIdentityOptions {
  readonly changes: Pick<IdentityChanges, 'addAddress' | 'addDomain' | 'refusal'>;
  readonly keys: Pick<DkimKeyMaker, 'make'>;
  readonly links: Pick<SendLink, 'write' | 'submit'>;
  readonly clock: { nowMs(): number };
}

/**
 * Adds an address, which is sent a verification link, or a domain, for which DKIM keys are generated. Once the call has returned, the mail
 * is accepted or will be retried.
 */
export class CreateIdentity {
  constructor(private readonly options: CreateIdentityOptions) {}

  /**
   * @throws Refusal 400 for what is neither, 409 when the identity exists, the workspace has the maximum or no mails can be sent,
   * 429 when too many mails were requested, 503 when too many keys are being generated
   */
  async create(workspaceId: WorkspaceId, actor: Actor, value: IdentityValue): Promise<Identity> {
    const id = newId('idn', this.options.clock.nowMs());
    return 'domain' in value
      ? this.createDomain(workspaceId, actor, id, domainIn(value.domain))
      : this.createAddress(workspaceId, actor, id, addressIn(value.address));
  }

  private async createDomain(
    workspaceId: WorkspaceId,
    actor: Actor,
    id: IdentityId,
    domain: string,
  ): Promise<Identity> {
    const { changes, keys } = this.options;
    // Checked before, because generating keys is expensive, and again with the insertion, because others may add domains meanwhile.
    const early = await changes.refusal(workspaceId, domain);
    if (early !== undefined) throw identityRefusal('domain', early);
    const added = await changes.addDomain(workspaceId, actor, {
      id,
      domain,
      keys: await keys.make(workspaceId, id),
    });
    if ('refused' in added) throw identityRefusal('domain', added);
    return added;
  }

  private async createAddress(
    workspaceId: WorkspaceId,
    actor: Actor,
    id: IdentityId,
    address: string,
  ): Promise<Identity> {
    const { changes, links } = this.options;
    const link = await links.write(workspaceId, address);
    const added = await changes.addAddress(workspaceId, actor, { id, address, link });
    if ('refused' in added) throw identityRefusal('address', added);
    await links.submit(link);
    return added;
  }
}
