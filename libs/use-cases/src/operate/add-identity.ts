import { Refusal, type WorkspaceId } from '@posthorn/kernel';
import { addressKey, parseMailbox, parseMailDomain } from '@posthorn/domain';
import { type Identity, type IdentityStore } from '@posthorn/database';

/**
 * Adds a domain or an address that a workspace may send from; an operator may vouch for it.
 *
 * @param verified whether it may be sent from at once
 * @throws Refusal (400) when it is neither a domain nor an address
 */
export async function addIdentity(
  identities: IdentityStore,
  workspaceId: WorkspaceId,
  value: { readonly domain: string } | { readonly address: string },
  verified: boolean,
): Promise<Identity> {
  if ('domain' in value) {
    const parsed = parseMailDomain(value.domain);
    if ('fault' in parsed) throw new Refusal(400, `\`domain\` ${parsed.fault}`);
    return identities.put(workspaceId, 'domain', parsed.domain, verified);
  }
  const parsed = parseMailbox(value.address);
  if ('fault' in parsed) throw new Refusal(400, `\`address\` ${parsed.fault}`);
  if (parsed.mailbox.name !== undefined)
    throw new Refusal(400, '`address` must be a bare address, without a name');
  return identities.put(workspaceId, 'address', addressKey(parsed.mailbox.address), verified);
}
