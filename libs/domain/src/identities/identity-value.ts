import { addressKey, BARE_ADDRESS, ONE_MAILBOX, parseMailbox } from '../mailbox.ts';
import { parseMailDomain } from '../mail-domain.ts';
import { leavesRoomForRecords } from './wanted-records.ts';

/**
 * Reads a domain to send from: in lower case and punycode.
 *
 * @returns the domain, or what is wrong with the text (a predicate to be put after the name of the field)
 */
export function parseSendingDomain(text: string): { domain: string } | { fault: string } {
  if (text === '') return { fault: 'is empty; give its name alone, such as example.com' };
  if (/[:/@]/.test(text)) return { fault: 'is more than a domain; give its name alone, such as example.com' };
  const parsed = parseMailDomain(text);
  if ('fault' in parsed || leavesRoomForRecords(parsed.domain)) return parsed;
  const { length } = parsed.domain;
  return { fault: `has ${length} octets, which leaves no room for the names of its DNS records` };
}

/**
 * Reads an address to send from: bare, in the form in which addresses are compared.
 *
 * @returns the address, or what is wrong with the text (a predicate to be put after the name of the field)
 */
export function parseSendingAddress(text: string): { address: string } | { fault: string } {
  const parsed = parseMailbox(text);
  if ('fault' in parsed) return { fault: parsed.fault.replace(ONE_MAILBOX, BARE_ADDRESS) };
  if (parsed.mailbox.name !== undefined) return { fault: `has a name beside it; ${BARE_ADDRESS}` };
  return { address: addressKey(parsed.mailbox.address) };
}
