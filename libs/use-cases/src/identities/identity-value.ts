import { parseSendingAddress, parseSendingDomain } from '@posthorn/domain';
import { requireValid } from '../require-valid.ts';

/** The value of an identity: a domain, for every address at it, or a single address. */
export type IdentityValue = { readonly domain: string } | { readonly address: string };

/** The domain in lower case and punycode. @throws Refusal (400) when it is not a domain */
export function domainIn(text: string): string {
  return requireValid('domain', parseSendingDomain(text)).domain;
}

/** The bare address in the form in which addresses are compared. @throws Refusal (400) when it is not an address */
export function addressIn(text: string): string {
  return requireValid('address', parseSendingAddress(text)).address;
}
