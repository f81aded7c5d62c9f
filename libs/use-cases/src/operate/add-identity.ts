import type { Actor } from '@posthorn/domain';
import type { WorkspaceId } from '@posthorn/kernel';
import type { Identity, IdentityStore } from '@posthorn/database';
import { addressIn, domainIn, type IdentityValue } from '../identities/identity-value.ts';

/**
 * Adds a domain or an address that a workspace may send from; an operator may vouch for it. One that exists is kept, and stays verified.
 *
 * @param verified whether it may be used at once, whatever the DNS says
 * @throws Refusal (400) when it is neither a domain nor an address
 */
export async function addIdentity(
  identities: Pick<IdentityStore, 'put'>,
  workspaceId: WorkspaceId,
  actor: Actor,
  value: IdentityValue,
  verified: boolean,
): Promise<Identity> {
  return 'domain' in value
    ? identities.put(workspaceId, actor, 'domain', domainIn(value.domain), verified)
    : identities.put(workspaceId, actor, 'address', addressIn(value.address), verified);
}
