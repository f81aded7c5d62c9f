import { Refusal } from '@posthorn/kernel';
import { parseSendingAddress, parseSendingDomain } from '@posthorn/domain';

/** What an identity is to be: every address at a domain, or one address. */
export type IdentityValue = { readonly domain: string } | { readonly address: string };

/** The domain in lower case and punycode. @throws Refusal (400) when it is none */
export function domainIn(text: string): string {
  const parsed = parseSendingDomain(text);
  if ('fault' in parsed) throw new Refusal(400, `\`domain\` ${parsed.fault}`);
  return parsed.domain;
}

/** The bare address in the form in which addresses are compared. @throws Refusal (400) when it is none */
export function addressIn(text: string): string {
  const parsed = parseSendingAddress(text);
  if ('fault' in parsed) throw new Refusal(400, `\`address\` ${parsed.fault}`);
  return parsed.address;
}
