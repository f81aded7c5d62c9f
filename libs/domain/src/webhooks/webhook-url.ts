import { type AddressRange, parseAddress } from '../address-range.ts';
import { faultInAddressText } from '../invisible-characters.ts';
import { mayConnectTo } from '../public-address.ts';

/** Which webhooks the operator allows beside https to public hosts. */
export interface WebhookUrlPolicy {
  readonly allowsHttp: boolean;
  /** Networks that are not public and may be posted to all the same. */
  readonly networks: readonly AddressRange[];
}

const EXAMPLE = 'give one such as `https://example.com/webhooks`';
const LABEL_CHARACTERS = 63;
const NAME_CHARACTERS = 253;
const LOOPBACK = ['127.0.0.1', '::1'];

/** What a text must not be to be one URL that all programs read alike. */
const OTHER_FORMS: readonly [RegExp, string][] = [
  [/[\s\p{Z}]/u, 'has a space in it; take it out or write it as `%20`'],
  [/\\/, 'has a backslash in it; use `/`, or write it as `%5C`'],
  [/^(?!https?:\/\/[^/?#])/i, `is not a URL that begins with \`https://\` and a host; ${EXAMPLE}`],
  [/^\w+:\/\/[^/?#]*@/, 'has a user name or a password in it; put what identifies you into the path'],
  [/#/, 'has a fragment (`#…`), which is never sent; take it out'],
];

/** Names that mean something else, or nothing, on every network (RFC 6761, RFC 6762, RFC 8375, ICANN on `.internal`). */
const PRIVATE_NAME =
  /(?:^|\.)(?:localhost|localdomain|local|internal|intranet|private|corp|home|lan|home\.arpa)$/;
/** Where clouds tell machines their credentials. */
const METADATA_NAME =
  /^(?:metadata|metadata\.google\.internal|metadata\.goog|instance-data|instance-data\.ec2\.internal)$/;

/**
 * What is wrong with a text as the URL of a webhook, whoever's (a predicate to be put after the name of the field); undefined
 * when nothing is. What is allowed here and there is another question: see {@link faultInWebhookHost}.
 */
export function faultInWebhookUrl(text: string): string | undefined {
  const unseen = faultInAddressText(text);
  if (unseen !== undefined) return unseen;
  const other = OTHER_FORMS.find(([form]) => form.test(text));
  if (other !== undefined) return other[1];
  const url = URL.parse(text);
  if (url === null) return `is not a valid URL; ${EXAMPLE}`;
  if (url.port === '0') return 'has the port 0, which nothing listens on; give another or leave it out';
  return faultInName(url.hostname);
}

/** What no name that is looked up can have (RFC 1035); nobody would ever be told of what is posted there. */
function faultInName(host: string): string | undefined {
  const labels = host.split('.');
  if (labels.at(-1) === '') return 'has a host that ends with a dot; leave the dot out';
  if (labels.includes(''))
    return 'has a host with two dots in a row, or one at its start; give the full name';
  if (host.length > NAME_CHARACTERS)
    return `has a host of ${host.length} characters; at most ${NAME_CHARACTERS} are possible`;
  const longest = Math.max(...labels.map((label) => label.length));
  return longest > LABEL_CHARACTERS
    ? `has a host with ${longest} characters between two dots; at most ${LABEL_CHARACTERS} are possible`
    : undefined;
}

/**
 * What is wrong with where a sound URL leads, as far as the URL itself says. A name is judged by what it resolves to, when it is
 * posted to: see {@link mayConnectTo}.
 */
export function faultInWebhookHost(text: string, policy: WebhookUrlPolicy): string | undefined {
  const { protocol, hostname } = new URL(text);
  if (protocol === 'http:' && !policy.allowsHttp) return 'begins with `http://`; give an `https://` URL';
  const host = hostname.replace(/^\[|\]$/g, '');
  const isOpen =
    parseAddress(host) === undefined ? mayName(host, policy) : mayConnectTo(host, policy.networks);
  return isOpen
    ? undefined
    : `has the host \`${host.slice(0, 100)}\`, which is not public; give one that the internet can reach`;
}

/** `URL` writes names in lower-case ASCII, and addresses in whatever notation as addresses. */
function mayName(name: string, { networks }: WebhookUrlPolicy): boolean {
  if (METADATA_NAME.test(name)) return false;
  if (/(?:^|\.)localhost$/.test(name)) return LOOPBACK.some((address) => mayConnectTo(address, networks));
  const isPrivate = PRIVATE_NAME.test(name) || !name.includes('.');
  return !isPrivate || networks.length > 0;
}
