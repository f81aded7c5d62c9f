import ipaddr from 'ipaddr.js';
import {
  type Address,
  type AddressRange,
  isInRanges,
  parseAddress,
  parseAddressRange,
} from './address-range.ts';

/**
 * Addresses that no setting can allow: metadata services of clouds, which give out credentials; link-local, multicast and reserved
 * addresses; and IPv6 ranges whose traffic is forwarded to an embedded IPv4 address.
 */
const ALWAYS_FORBIDDEN = ranges(
  '0.0.0.0/8', // this host (RFC 1122, section 3.2.1.3)
  '169.254.0.0/16', // link-local (RFC 3927), with the metadata of most clouds
  '100.100.100.200', // metadata of Alibaba Cloud
  '168.63.129.16', // metadata of Azure
  '192.0.0.192', // metadata of Oracle Cloud
  '224.0.0.0/4', // multicast (RFC 5771)
  '240.0.0.0/4', // reserved, and broadcast (RFC 1112, section 4; RFC 919)
  '::ffff:0:0:0/96', // IPv4-translated (RFC 7915)
  '64:ff9b:1::/48', // NAT64 of one's own (RFC 8215)
  '100::/64', // discarded (RFC 6666)
  '2001::/32', // Teredo (RFC 4380)
  '2002::/16', // 6to4 (RFC 3056)
  'fd00:ec2::254', // metadata of AWS
  'fd20:ce::254', // metadata of Google Cloud
  'fd00:c1::a9fe:a9fe', // metadata of Oracle Cloud
  'fd00:42::42', // metadata of Scaleway
  'fe80::/10', // link-local (RFC 4291, section 2.5.6)
  'fec0::/10', // site-local (RFC 3879)
  'ff00::/8', // multicast (RFC 4291, section 2.7)
);

/** The deprecated IPv4-compatible IPv6 addresses (RFC 4291, section 2.5.5.1), except `::1`. */
const IPV4_COMPATIBLE = ranges('::/96');
/** IPv4 addresses as seen from an IPv6-only network (RFC 6052, section 2.1). */
const NAT64 = ranges('64:ff9b::/96');
/** All allocated global unicast IPv6 addresses (https://www.iana.org/assignments/ipv6-address-space). */
const GLOBAL_IPV6 = ranges('2000::/3');

/** The names that always mean the local machine, and are never looked up (RFC 6761, section 6.3). */
const LOCALHOST = /(?:^|\.)localhost$/i;
/** The addresses of those names. */
export const LOCALHOST_ADDRESSES: readonly string[] = ['127.0.0.1', '::1'];
/** The addresses of the local machine (RFC 1122, section 3.2.1.3; RFC 4291, section 2.5.3). */
const LOOPBACK = /^(?:127(?:\.\d{1,3}){3}|\[?::1\]?)$/;

/** Whether a name is `localhost`, or is below it. */
export function isLocalhost(name: string): boolean {
  return LOCALHOST.test(name);
}

/** Whether a host is the local machine. @param host a name or an address, as in `URL.hostname`; brackets are optional */
export function isLoopback(host: string): boolean {
  return isLocalhost(host) || LOOPBACK.test(host);
}

/**
 * Whether Posthorn may connect to an address that a caller chose: it is public, or the operator allows its network. It must be checked
 * for the resolved address before each connection.
 *
 * @param text an IP address, as a resolver or `URL` writes it; anything else is refused
 */
export function mayConnectTo(text: string, allowed: readonly AddressRange[]): boolean {
  const parsed = parseAddress(text);
  if (parsed === undefined) return false;
  const address = isInRanges(parsed, NAT64) ? embeddedIpv4(parsed) : parsed;
  if (isAlwaysForbidden(address)) return false;
  return isPublic(address) || isInRanges(address, allowed);
}

function isAlwaysForbidden(address: Address): boolean {
  if (isInRanges(address, ALWAYS_FORBIDDEN)) return true;
  return isInRanges(address, IPV4_COMPATIBLE) && address.range() !== 'loopback';
}

function isPublic(address: Address): boolean {
  if (address.range() !== 'unicast') return false;
  return address.kind() === 'ipv4' || isInRanges(address, GLOBAL_IPV6);
}

function embeddedIpv4(address: Address): Address {
  return new ipaddr.IPv4(address.toByteArray().slice(-4));
}

function ranges(...texts: string[]): AddressRange[] {
  return texts.map((text) => {
    const range = parseAddressRange(text);
    if (range === undefined) throw new Error(`${text} is not a range of addresses`);
    return range;
  });
}
