import type { Actor } from '@posthorn/domain';
import type { WorkspaceId } from '@posthorn/kernel';
import type { Identity, IdentityStore } from '@posthorn/database';
import { addressIn, domainIn, type IdentityValue } from '../identities/identity-value.ts';

/**
 * Adds a domain or an address that a workspace may send from; an operator may vouch for it. One that exists is kept, and stays verified.
 *
 * @param verified whether it may be used at once, whatever the DNS says
 * @param actor recorded in the audit log
 * @throws Refusal (400) when it is neither a domain nor an address
 */
export async function addIdentity(
  identities: Pick<IdentityStore, 'put'>,
  workspaceId: WorkspaceId,
  value: IdentityValue,
  verified: boolean,
  actor: Actor,
): Promise<Identity> {
  return 'domain' in value
    ? identities.put(workspaceId, 'domain', domainIn(value.domain), verified, actor)
    : identities.put(workspaceId, 'address', addressIn(value.address), verified, actor);
}
