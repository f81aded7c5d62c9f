import ipaddr from 'ipaddr.js';

/** An IP address. */
export type Address = ipaddr.IPv4 | ipaddr.IPv6;

/** A range of addresses: one of them, and how many of its first bits are the same in all. */
export type AddressRange = readonly [address: Address, bits: number];

/** The bits that an IPv4 address has before it where it is written as an IPv6 one (RFC 4291, section 2.5.5.2). */
const MAPPED_BITS = 96;

/** `::1.2.3.4` is another address than `::ffff:1.2.3.4`, for which the parser takes it. */
const COMPATIBLE = /^::(\d+\.\d+\.\d+\.\d+)$/;

/**
 * An address in its one unambiguous form: four decimal numbers, or IPv6 without a zone; an IPv4 address inside of an IPv6 one as
 * what it is.
 *
 * @returns undefined when it is none
 */
export function parseAddress(text: string): Address | undefined {
  const compatible = COMPATIBLE.exec(text);
  if (compatible !== null) return asIpv6(parseAddress(compatible[1]!));
  const isAddress =
    ipaddr.IPv4.isValidFourPartDecimal(text) || (ipaddr.IPv6.isValid(text) && !text.includes('%'));
  return isAddress ? ipaddr.process(text) : undefined;
}

/**
 * A range as operators write it: `10.0.0.0/8`, `fd00::/8`, or one address.
 *
 * @returns undefined when it is none
 */
export function parseAddressRange(text: string): AddressRange | undefined {
  if (!text.includes('/')) return wholeAddress(parseAddress(text));
  const isCidr = ipaddr.IPv4.isValidCIDRFourPartDecimal(text) || ipaddr.IPv6.isValidCIDR(text);
  if (!isCidr || text.includes('%')) return undefined;
  const [address, bits] = ipaddr.parseCIDR(text);
  const isMapped = address instanceof ipaddr.IPv6 && address.isIPv4MappedAddress() && bits >= MAPPED_BITS;
  return isMapped ? [address.toIPv4Address(), bits - MAPPED_BITS] : [address, bits];
}

/** Whether the address lies in one of the ranges. */
export function isAmong(address: Address, ranges: readonly AddressRange[]): boolean {
  return ranges.some(([range, bits]) => range.kind() === address.kind() && address.match(range, bits));
}

function wholeAddress(address: Address | undefined): AddressRange | undefined {
  return address && [address, address.toByteArray().length * 8];
}

/** The IPv6 address with these last four bytes, and no others. */
function asIpv6(ipv4: Address | undefined): Address | undefined {
  return ipv4 && new ipaddr.IPv6([...new Array<number>(12).fill(0), ...ipv4.toByteArray()]);
}
