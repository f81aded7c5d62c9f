import { parseSendingAddress, parseSendingDomain } from '@posthorn/domain';
import { judged } from '../judged.ts';

/** What an identity is to be: every address at a domain, or one address. */
export type IdentityValue = { readonly domain: string } | { readonly address: string };

/** The domain in lower case and punycode. @throws Refusal (400) when it is none */
export function domainIn(text: string): string {
  return judged('domain', parseSendingDomain(text)).domain;
}

/** The bare address in the form in which addresses are compared. @throws Refusal (400) when it is none */
export function addressIn(text: string): string {
  return judged('address', parseSendingAddress(text)).address;
}
