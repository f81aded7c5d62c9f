import { Refusal, type WorkspaceId } from '@posthorn/kernel';
import { addressKey, parseMailbox, parseMailDomain } from '@posthorn/domain';
import { type Identity, type IdentityStore } from '@posthorn/database';

/**
 * Adds a domain or an address that a workspace may send from; an operator may vouch for it. One that is there already
 * stays, and stays verified.
 *
 * @param verified whether it may be sent from at once
 * @throws Refusal (400) when it is neither a domain nor an address
 */
export async function addIdentity(
  identities: Pick<IdentityStore, 'put'>,
  workspaceId: WorkspaceId,
  value: { readonly domain: string } | { readonly address: string },
  verified: boolean,
): Promise<Identity> {
  return 'domain' in value
    ? identities.put(workspaceId, 'domain', domainIn(value.domain), verified)
    : identities.put(workspaceId, 'address', addressIn(value.address), verified);
}

function domainIn(text: string): string {
  if (text === '' || /[:/@]/.test(text)) {
    const found = text === '' ? 'is empty' : 'is more than a domain';
    throw new Refusal(400, `\`domain\` ${found}; give its name alone, such as example.com`);
  }
  const parsed = parseMailDomain(text);
  if ('fault' in parsed) throw new Refusal(400, `\`domain\` ${parsed.fault}`);
  return parsed.domain;
}

function addressIn(text: string): string {
  const parsed = parseMailbox(text);
  if ('fault' in parsed) throw new Refusal(400, `\`address\` ${parsed.fault}`);
  if (parsed.mailbox.name !== undefined) {
    throw new Refusal(400, '`address` has a name beside it; give the bare address, such as ada@example.com');
  }
  return addressKey(parsed.mailbox.address);
}
