import type { Actor } from '@posthorn/domain';
import type { WorkspaceId } from '@posthorn/kernel';
import type { Identity, IdentityStore } from '@posthorn/database';
import { addressIn, domainIn, type IdentityValue } from '../identities/identity-value.ts';

type NewIdentity = IdentityValue & {
  /** Whether it may be used at once, whatever the DNS says. */
  readonly verified: boolean;
};

/**
 * Adds a domain or an address that a workspace may send from; an operator may vouch for it. One that exists is kept, and stays verified.
 *
 * @throws Refusal (400) when it is neither a domain nor an address
 */
export async function addIdentity(
  identities: Pick<IdentityStore, 'put'>,
  workspaceId: WorkspaceId,
  actor: Actor,
  identity: NewIdentity,
): Promise<Identity> {
  const what =
    'domain' in identity
      ? ({ kind: 'domain', value: domainIn(identity.domain) } as const)
      : ({ kind: 'address', value: addressIn(identity.address) } as const);
  return identities.put(workspaceId, actor, { ...what, verified: identity.verified });
}
