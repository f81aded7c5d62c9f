import type { IncomingMessage } from 'node:http';
import { type Address, type AddressRange, isInRanges, parseAddress } from '@posthorn/domain';
import { headerValues } from './header-values.ts';

/** The data by which the sender of a request is determined. */
export type SentBy = Pick<IncomingMessage, 'rawHeaders'> & {
  readonly socket: Pick<IncomingMessage['socket'], 'remoteAddress'>;
};

/** An IPv4 address, or an IPv6 address in brackets, with or without a port; some proxies add that of the client. */
const WITH_PORT = /^(?:\[(?<ipv6>[^\]]+)\]|(?<ipv4>[\d.]+))(?::\d{1,5})?$/;

const UNKNOWN = 'unknown';
/** The part of an IPv6 address that identifies a network; a client usually has only one, with any number of addresses. */
const NETWORK_BYTES = 8;

/**
 * The address of the client: that of the connection, unless it is a trusted proxy. Then it is the right-most address in
 * `X-Forwarded-For` that is not a trusted proxy; anything to the left of it could be forged. If the header is missing or malformed up
 * to there, it is the proxy's address.
 */
export function clientAddress(request: SentBy, trusted: readonly AddressRange[]): string {
  const [withoutZone] = (request.socket.remoteAddress ?? '').split('%') as [string];
  const peer = parseAddress(withoutZone);
  if (peer === undefined) return UNKNOWN;
  const client = isInRanges(peer, trusted) ? forwardedFor(request, trusted) : undefined;
  return (client ?? peer).toString();
}

/** The network of a client for rate limits: an IPv4 address, or the first 64 bits of an IPv6 address. */
export function networkOf(address: string): string {
  const parsed = parseAddress(address);
  if (parsed?.kind() !== 'ipv6') return address;
  const hex = Buffer.from(parsed.toByteArray().slice(0, NETWORK_BYTES)).toString('hex');
  return `${hex.match(/.{4}/g)!.join(':')}::/64`;
}

function forwardedFor(request: SentBy, trusted: readonly AddressRange[]): Address | undefined {
  // HAProxy does not append to the header, but adds another one, which means the same (RFC 9110, section 5.3).
  const hops = headerValues(request, 'x-forwarded-for').join().split(',');
  for (const hop of hops.reverse()) {
    const address = parseAddress(withoutPort(hop.trim()));
    if (address === undefined || !isInRanges(address, trusted)) return address;
  }
  return undefined;
}

function withoutPort(hop: string): string {
  const { ipv4, ipv6 } = WITH_PORT.exec(hop)?.groups ?? {};
  return ipv4 ?? ipv6 ?? hop;
}
