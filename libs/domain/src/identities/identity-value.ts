import { addressKey, BARE_ADDRESS_HINT, MAILBOX_HINT, parseMailbox } from '../mailbox.ts';
import { parseMailDomain } from '../mail-domain.ts';
import { recordNamesFit } from './expected-records.ts';

/**
 * Parses a sending domain, into lower case and punycode.
 *
 * @returns the domain, or what is wrong with the text (a predicate to be put after the name of the field)
 */
export function parseSendingDomain(text: string): { domain: string } | { fault: string } {
  if (text === '') return { fault: 'is empty; give its name alone, such as example.com' };
  if (/[:/@]/.test(text)) return { fault: 'is more than a domain; give its name alone, such as example.com' };
  const parsed = parseMailDomain(text);
  if ('fault' in parsed || recordNamesFit(parsed.domain)) return parsed;
  const { length } = parsed.domain;
  return { fault: `has ${length} octets, which leaves no room for the names of its DNS records` };
}

/**
 * Parses a sender address, without a name, into the form in which addresses are compared.
 *
 * @returns the address, or what is wrong with the text (a predicate to be put after the name of the field)
 */
export function parseSendingAddress(text: string): { address: string } | { fault: string } {
  const parsed = parseMailbox(text);
  if ('fault' in parsed) return { fault: parsed.fault.replace(MAILBOX_HINT, BARE_ADDRESS_HINT) };
  if (parsed.mailbox.name !== undefined) return { fault: `has a name beside it; ${BARE_ADDRESS_HINT}` };
  return { address: addressKey(parsed.mailbox.address) };
}
