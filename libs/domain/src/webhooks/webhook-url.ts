import { abbreviated } from '../abbreviated.ts';
import { type AddressRange, parseAddress } from '../address-range.ts';
import { faultInAddressText } from '../invisible-characters.ts';
import { isLocalhost, LOCALHOST_ADDRESSES, mayConnectTo } from '../public-address.ts';

/** What the operator allows in addition to https to public hosts. */
export interface WebhookUrlPolicy {
  readonly allowsHttp: boolean;
  /** Private networks that may be posted to. */
  readonly networks: readonly AddressRange[];
}

const EXAMPLE = 'give one such as `https://example.com/webhooks`';
/** Of a host that is refused, in a sentence. */
const MAX_SHOWN = 100;
/** A name (a low line is in those of some machines), or an IPv6 address in brackets. `URL` lets through what a placeholder or a pattern consists of. */
const HOST = /^(?:[a-z0-9._-]+|\[.+\])$/;
const LABEL_CHARACTERS = 63;
const NAME_CHARACTERS = 253;

/** Forms that not all programs would read as the same URL, with the fault of each. */
const FORM_FAULTS: readonly [RegExp, string][] = [
  [/[\s\p{Z}]/u, 'has a space in it; remove it or write it as `%20`'],
  [/\\/, 'has a backslash in it; use `/`, or write it as `%5C`'],
  [/^(?!https?:\/\/[^/?#])/i, `is not a URL that begins with \`https://\` and a host; ${EXAMPLE}`],
  [/^\w+:\/\/[^/?#]*@/, 'has a user name or a password in it; put what identifies you into the path'],
  [/#/, 'has a fragment (`#…`), which is never sent; remove it'],
];

/** Names that the public DNS never resolves (RFC 6761, RFC 6762, RFC 7686, RFC 8375, RFC 9476, ICANN on `.internal`), but for `.example`: it stands in documents. */
const PRIVATE_NAME =
  /(?:^|\.)(?:localhost|localdomain|local|internal|intranet|private|corp|home|lan|home\.arpa|test|invalid|onion|alt)$/;
/** Metadata services of clouds, which give out credentials. */
const METADATA_NAME =
  /^(?:metadata|metadata\.google\.internal|metadata\.goog|instance-data|instance-data\.ec2\.internal)$/;

/**
 * What is wrong with the form of a webhook URL (a predicate to be put after the name of the field); undefined when nothing is. Whether
 * its host is allowed depends on the installation: see {@link faultInWebhookHost}.
 */
export function faultInWebhookUrl(text: string): string | undefined {
  const invisible = faultInAddressText(text);
  if (invisible !== undefined) return invisible;
  const other = FORM_FAULTS.find(([form]) => form.test(text));
  if (other !== undefined) return other[1];
  const url = URL.parse(text);
  if (url === null) return `is not a valid URL; ${EXAMPLE}`;
  if (url.port === '0') return 'has the port 0, which nothing listens on; give another or leave it out';
  return faultInName(url.hostname);
}

/** Faults that no resolvable name can have (RFC 1035, RFC 1123). */
function faultInName(host: string): string | undefined {
  if (!HOST.test(host))
    return 'has a host with a character that no name has; give its letters, digits, hyphens and dots, and the value of each placeholder';
  const labels = host.split('.');
  if (labels.at(-1) === '') return 'has a host that ends with a dot; leave the dot out';
  if (labels.includes(''))
    return 'has a host with two dots in a row, or one at its start; give the full name';
  if (host.length > NAME_CHARACTERS)
    return `has a host of ${host.length} characters; at most ${NAME_CHARACTERS} are allowed`;
  const longest = Math.max(...labels.map((label) => label.length));
  return longest > LABEL_CHARACTERS
    ? `has a host with ${longest} characters between two dots; at most ${LABEL_CHARACTERS} are allowed`
    : undefined;
}

/**
 * What is wrong with the scheme or host of a well-formed URL; undefined when nothing is. The addresses that a name resolves to are checked
 * before each connection: see {@link mayConnectTo}.
 */
export function faultInWebhookHost(text: string, policy: WebhookUrlPolicy): string | undefined {
  const { protocol, hostname } = new URL(text);
  if (protocol === 'http:' && !policy.allowsHttp) return 'begins with `http://`; give an `https://` URL';
  const host = hostname.replace(/^\[|\]$/g, '');
  const isAllowed =
    parseAddress(host) === undefined ? isAllowedName(host, policy) : mayConnectTo(host, policy.networks);
  return isAllowed
    ? undefined
    : `has the host \`${abbreviated(host, MAX_SHOWN)}\`, which is not public; give one that the internet can reach`;
}

/** @param name of `URL`, so in lower-case ASCII, and not an IP address in any notation */
function isAllowedName(name: string, { networks }: WebhookUrlPolicy): boolean {
  if (METADATA_NAME.test(name)) return false;
  if (isLocalhost(name)) return LOCALHOST_ADDRESSES.some((address) => mayConnectTo(address, networks));
  const isPrivate = PRIVATE_NAME.test(name) || !name.includes('.');
  return !isPrivate || networks.length > 0;
}
