import { domainToASCII, domainToUnicode } from 'node:url';
import { beginningOf } from '@posthorn/kernel';

const PLAIN_DOMAIN = /^[a-z0-9.-]+$/i;
/** Letters, marks, digits, hyphen and dot; `%`, `/`, `@` and the like would mean something else to the parser of URLs. */
const IDN_DOMAIN = /^[\p{L}\p{M}\p{N}.\u002d\u00b7\u0375\u05f3\u05f4\u30fb\u3002]+$/u;
/** Nearly all domains match this, which spares them the other checks: letters, digits and single hyphens (punycode has two), and letters at the end. */
const COMMON_DOMAIN = /^(?:[a-z0-9]+(?:-[a-z0-9]+)*\.)+[a-z]+$/i;
const LABEL_OCTETS = 63;
const DOMAIN_OCTETS = 253;
const ANOTHER_DOMAIN = 'give a domain such as `example.com`';
const FULL_DOMAIN = 'give the full domain, such as `example.com`';

/**
 * Reads the domain of a mailbox: lower-cased, an internationalised one as punycode (RFC 5890).
 *
 * @returns the domain, or what is wrong with the text (a predicate to be put after the name of the field)
 */
export function parseMailDomain(text: string): { domain: string } | { fault: string } {
  // No label of a text that is no longer than a label may be is too long.
  if (text.length <= LABEL_OCTETS && COMMON_DOMAIN.test(text)) return { domain: text.toLowerCase() };
  const fault = faultInSpelling(text);
  if (fault !== undefined) return { fault };
  const domain = toAscii(text);
  if (domain === undefined)
    return {
      fault: `has the domain \`${shown(text)}\`, which is not a valid internationalised name; ${ANOTHER_DOMAIN}`,
    };
  const structural = faultInStructure(domain);
  return structural === undefined ? { domain } : { fault: structural };
}

function faultInSpelling(text: string): string | undefined {
  if (text === '') return `has no domain after the \`@\`; ${FULL_DOMAIN}`;
  if (text.startsWith('[')) return 'has an address literal in brackets as its domain; give a domain name';
  if (PLAIN_DOMAIN.test(text) || IDN_DOMAIN.test(text)) return undefined;
  return `has the domain \`${shown(text)}\`, in which only letters, digits, hyphens and dots may stand; ${ANOTHER_DOMAIN}`;
}

function toAscii(text: string): string | undefined {
  const lower = text.toLowerCase();
  if (PLAIN_DOMAIN.test(text) && !lower.includes('xn--')) return lower;
  const ascii = domainToASCII(lower);
  const unicode = domainToUnicode(ascii);
  // A name that does not survive the way there and back is one that two programs would read as two names; a label that
  // stays punycode stands for no characters at all.
  const sound = ascii !== '' && !/(?:^|\.)xn--/.test(unicode) && domainToASCII(unicode) === ascii;
  return sound ? ascii : undefined;
}

function faultInStructure(domain: string): string | undefined {
  const labels = domain.split('.');
  if (labels.includes(''))
    return `has the domain \`${shown(domain)}\`, which begins or ends with a dot or has two in a row; ${FULL_DOMAIN}`;
  if (labels.length < 2) return `has the domain \`${shown(domain)}\`, which has no dot; ${FULL_DOMAIN}`;
  if (domain.length > DOMAIN_OCTETS)
    return `has a domain of ${domain.length} octets; at most ${DOMAIN_OCTETS} are possible`;
  const long = labels.find((label) => label.length > LABEL_OCTETS);
  if (long !== undefined)
    return `has a domain with a label of ${long.length} octets; at most ${LABEL_OCTETS} are possible`;
  if (labels.some((label) => label.startsWith('-') || label.endsWith('-'))) {
    return `has the domain \`${shown(domain)}\`, in which a label begins or ends with a hyphen; ${ANOTHER_DOMAIN}`;
  }
  if (/^\d+$/.test(labels.at(-1)!)) return 'has an IP address or a number as its domain; give a domain name';
  return undefined;
}

function shown(domain: string): string {
  return domain.length > 80 ? `${beginningOf(domain, 80)}…` : domain;
}
