import ipaddr from 'ipaddr.js';

/** An IP address. */
export type Address = ipaddr.IPv4 | ipaddr.IPv6;

/** A CIDR range: an address and the length of its prefix in bits. */
export type AddressRange = readonly [address: Address, bits: number];

/** The length of the prefix of IPv4-mapped IPv6 addresses (RFC 4291, section 2.5.5.2). */
const MAPPED_BITS = 96;

/** `::1.2.3.4` (deprecated by RFC 4291, section 2.5.5.1); the parser would read it as `::ffff:1.2.3.4`, which is a different address. */
const IPV4_COMPATIBLE = /^::\d+\./;

/**
 * Parses an address: dotted decimal with four parts, or IPv6 without a zone. An IPv4-mapped IPv6 address is returned as IPv4; an
 * IPv4-compatible one in dotted decimal is not an address.
 *
 * @returns undefined when it is not an address
 */
export function parseAddress(text: string): Address | undefined {
  if (IPV4_COMPATIBLE.test(text)) return undefined;
  const isAddress =
    ipaddr.IPv4.isValidFourPartDecimal(text) || (ipaddr.IPv6.isValid(text) && !text.includes('%'));
  return isAddress ? ipaddr.process(text) : undefined;
}

/**
 * Parses a range: `10.0.0.0/8`, `fd00::/8`, or a single address.
 *
 * @returns undefined when it is not a range
 */
export function parseAddressRange(text: string): AddressRange | undefined {
  if (!text.includes('/')) return singleAddressRange(parseAddress(text));
  const isCidr = ipaddr.IPv4.isValidCIDRFourPartDecimal(text) || ipaddr.IPv6.isValidCIDR(text);
  if (!isCidr || text.includes('%')) return undefined;
  const [address, bits] = ipaddr.parseCIDR(text);
  const isMapped = address instanceof ipaddr.IPv6 && address.isIPv4MappedAddress() && bits >= MAPPED_BITS;
  return isMapped ? [address.toIPv4Address(), bits - MAPPED_BITS] : [address, bits];
}

/** Whether the address lies in one of the ranges. */
export function isInRanges(address: Address, ranges: readonly AddressRange[]): boolean {
  return ranges.some(([range, bits]) => range.kind() === address.kind() && address.match(range, bits));
}

function singleAddressRange(address: Address | undefined): AddressRange | undefined {
  return address && [address, address.toByteArray().length * 8];
}
