import { domainToASCII, domainToUnicode } from 'node:url';
import { abbreviated } from './abbreviated.ts';

const PLAIN_DOMAIN = /^[a-z0-9.-]+$/i;
/** Letters, marks, digits, hyphen and dot; `%`, `/`, `@` and the like have a meaning in URLs, with which the domain is parsed. */
const IDN_DOMAIN = /^[\p{L}\p{M}\p{N}.\u002d\u00b7\u0375\u05f3\u05f4\u30fb\u3002]+$/u;
/** A digit of Arabic cannot begin a label (RFC 5893, section 2, rule 1); Node 22 does not check this. */
const BEGINS_WITH_ARABIC_DIGIT = /(?:^|\.)[\u0660-\u0669]/;
/** A fast path for nearly all domains: letters, digits and single hyphens (punycode has two), with letters at the end. */
const COMMON_DOMAIN = /^(?:[a-z0-9]+(?:-[a-z0-9]+)*\.)+[a-z]+$/i;
const LABEL_OCTETS = 63;
const DOMAIN_OCTETS = 253;
/** Of a wrong domain, in a sentence. */
const MAX_SHOWN = 80;
const DOMAIN_HINT = 'give a domain such as `example.com`';
const FULL_DOMAIN_HINT = 'give the full domain, such as `example.com`';

/**
 * Parses the domain of a mailbox, into lower case and punycode (RFC 5890).
 *
 * @returns the domain, or what is wrong with the text (a predicate to be put after the name of the field)
 */
export function parseMailDomain(text: string): { domain: string } | { fault: string } {
  // A text no longer than one label may be has no label that is too long.
  if (text.length <= LABEL_OCTETS && COMMON_DOMAIN.test(text)) return { domain: text.toLowerCase() };
  const fault = faultInSpelling(text);
  if (fault !== undefined) return { fault };
  const domain = toAscii(text);
  if (domain === undefined)
    return {
      fault: `has the domain \`${abbreviated(text, MAX_SHOWN)}\`, which is not a valid internationalised name; ${DOMAIN_HINT}`,
    };
  const structuralFault = faultInStructure(domain);
  return structuralFault === undefined ? { domain } : { fault: structuralFault };
}

function faultInSpelling(text: string): string | undefined {
  if (text === '') return `has no domain after the \`@\`; ${FULL_DOMAIN_HINT}`;
  if (text.startsWith('[')) return 'has an address literal in brackets as its domain; give a domain name';
  if (PLAIN_DOMAIN.test(text) || IDN_DOMAIN.test(text)) return undefined;
  return `has the domain \`${abbreviated(text, MAX_SHOWN)}\`, in which only letters, digits, hyphens and dots may stand; ${DOMAIN_HINT}`;
}

function toAscii(text: string): string | undefined {
  const lower = text.toLowerCase();
  if (PLAIN_DOMAIN.test(text) && !lower.includes('xn--')) return lower;
  const ascii = domainToASCII(lower);
  const unicode = domainToUnicode(ascii);
  // Programs would disagree about a name that does not survive the conversion and back; a label that stays punycode is
  // not a valid encoding.
  const survivesRoundTrip = ascii !== '' && !/(?:^|\.)xn--/.test(unicode) && domainToASCII(unicode) === ascii;
  return survivesRoundTrip && !BEGINS_WITH_ARABIC_DIGIT.test(unicode) ? ascii : undefined;
}

function faultInStructure(domain: string): string | undefined {
  const labels = domain.split('.');
  if (labels.includes(''))
    return `has the domain \`${abbreviated(domain, MAX_SHOWN)}\`, which begins or ends with a dot or has two in a row; ${FULL_DOMAIN_HINT}`;
  if (labels.length < 2)
    return `has the domain \`${abbreviated(domain, MAX_SHOWN)}\`, which has no dot; ${FULL_DOMAIN_HINT}`;
  if (domain.length > DOMAIN_OCTETS)
    return `has a domain of ${domain.length} octets; at most ${DOMAIN_OCTETS} are allowed`;
  const long = labels.find((label) => label.length > LABEL_OCTETS);
  if (long !== undefined)
    return `has a domain with a label of ${long.length} octets; at most ${LABEL_OCTETS} are allowed`;
  if (labels.some((label) => label.startsWith('-') || label.endsWith('-'))) {
    return `has the domain \`${abbreviated(domain, MAX_SHOWN)}\`, in which a label begins or ends with a hyphen; ${DOMAIN_HINT}`;
  }
  if (/^\d+$/.test(labels.at(-1)!)) return 'has an IP address or a number as its domain; give a domain name';
  return undefined;
}
