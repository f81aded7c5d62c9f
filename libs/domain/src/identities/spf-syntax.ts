import { isIPv4, isIPv6 } from 'node:net';

/** The lengths of an IPv4 and of an IPv6 prefix. */
const PREFIXES = /^(?:\/(\d{1,2}))?(?:\/\/(\d{1,3}))?$/;

/** Whether what follows the name of a mechanism may do so (RFC 7208, section 5). */
const MECHANISMS = new Map<string, (rest: string) => boolean>([
  ['all', (rest) => rest === ''],
  ['include', isTarget],
  ['exists', isTarget],
  ['ptr', (rest) => rest === '' || isTarget(rest)],
  ['a', isHosts],
  ['mx', isHosts],
  ['ip4', (rest) => isNetwork(rest, isIPv4, 32)],
  ['ip6', (rest) => isNetwork(rest, isIPv6, 128)],
]);

/** The first part of an SPF record that is none of its terms: receivers take all of such a record for an error (RFC 7208, section 4.6). */
export function faultyTermIn(record: string): string | undefined {
  const [, ...terms] = record.split(/ +/);
  return terms.find((term) => term !== '' && !isModifier(term) && !isMechanism(term));
}

/** Those that receivers do not know are ignored. */
function isModifier(term: string): boolean {
  const [name] = /^[a-z][\w.-]*=/i.exec(term) ?? [];
  return name !== undefined && (name.toLowerCase() !== 'redirect=' || isDomain(term.slice(name.length)));
}

function isMechanism(term: string): boolean {
  const [start, name] = /^[-+~?]?([a-z0-9]+)/i.exec(term) ?? [];
  return MECHANISMS.get(name?.toLowerCase() ?? '')?.(term.slice(start!.length)) ?? false;
}

/** With a dot, or with a macro anywhere. */
function isDomain(text: string): boolean {
  return text.includes('%') || /^[\w-]+(?:\.[\w-]+)*\.[a-z0-9-]+\.?$/i.test(text);
}

function isTarget(rest: string): boolean {
  return rest.startsWith(':') && isDomain(rest.slice(1));
}

/** A domain, or that of the record, and lengths of prefixes. */
function isHosts(rest: string): boolean {
  const slash = rest.indexOf('/');
  const domain = slash === -1 ? rest : rest.slice(0, slash);
  const [prefixes, ofV4, ofV6] = PREFIXES.exec(rest.slice(domain.length)) ?? [];
  const isInRange = Number(ofV4 ?? 0) <= 32 && Number(ofV6 ?? 0) <= 128;
  return (domain === '' || isTarget(domain)) && prefixes !== undefined && isInRange;
}

function isNetwork(rest: string, isAddress: (text: string) => boolean, bits: number): boolean {
  const [, address, prefix] = /^:([^/]+)(?:\/(\d{1,3}))?$/.exec(rest) ?? [];
  return address !== undefined && isAddress(address) && Number(prefix ?? 0) <= bits;
}
