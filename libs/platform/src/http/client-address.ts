import type { IncomingMessage } from 'node:http';
import { type Address, type AddressRange, isInRanges, parseAddress } from '@posthorn/domain';
import { headerValues } from './header-values.ts';

/** What there is to be known of who sent a request. */
export type SentBy = Pick<IncomingMessage, 'rawHeaders'> & {
  readonly socket: Pick<IncomingMessage['socket'], 'remoteAddress'>;
};

const UNKNOWN = 'unknown';
/** How much of an IPv6 address a client can hardly have several of. */
const NETWORK_BYTES = 8;

/**
 * The address that a request is from: the connection's, unless that is a proxy that we trust. Then it is the right-most address
 * in `X-Forwarded-For` that is no trusted proxy; what stands left of it anybody may have written. Where the header
 * is missing, doubled or malformed as far as it is read, it is the proxy's.
 */
export function clientAddress(request: SentBy, trusted: readonly AddressRange[]): string {
  const [withoutZone] = (request.socket.remoteAddress ?? '').split('%') as [string];
  const peer = parseAddress(withoutZone);
  if (peer === undefined) return UNKNOWN;
  const client = isInRanges(peer, trusted) ? forwardedFor(request, trusted) : undefined;
  return (client ?? peer).toString();
}

/** What one client can hardly have several of: an IPv4 address, or the first 64 bits of an IPv6 one. */
export function networkOf(address: string): string {
  const parsed = parseAddress(address);
  if (parsed?.kind() !== 'ipv6') return address;
  const hex = Buffer.from(parsed.toByteArray().slice(0, NETWORK_BYTES)).toString('hex');
  return `${hex.match(/.{4}/g)!.join(':')}::/64`;
}

function forwardedFor(request: SentBy, trusted: readonly AddressRange[]): Address | undefined {
  const values = headerValues(request, 'x-forwarded-for');
  if (values.length !== 1) return undefined;
  for (const hop of values[0]!.split(',').reverse()) {
    const address = parseAddress(hop.trim());
    if (address === undefined || !isInRanges(address, trusted)) return address;
  }
  return undefined;
}
