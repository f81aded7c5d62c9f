import { BoundedMap, Counts } from '@posthorn/kernel';
import { type Bucket, type RateLimit, refill, takeTokens } from '@posthorn/domain';

export interface PeerLimitsOptions {
  /** Of all addresses together. */
  readonly allConnections: number;
  /** Concurrent connections of one address. */
  readonly connections: number;
  /** The rate of recipients of one address; null: no limit. */
  readonly recipients: RateLimit | null;
  /** Maps an address to what counts as one: for IPv6, the network of a client. */
  readonly peerOf: (address: string) => string;
}

/** Beyond these the least recently seen is dropped. */
const MAX_PEERS = 10_000;

/** Limits the connections and recipients of each client address. */
export class PeerLimits {
  private readonly connections = new Counts<string>();
  private open = 0;
  private readonly buckets = new BoundedMap<string, Bucket>(MAX_PEERS);

  constructor(private readonly options: PeerLimitsOptions) {}

  /** Counts a connection. @returns why it is refused and not counted; undefined: it is accepted */
  connect(address: string): 'tooManyConnections' | 'full' | undefined {
    const peer = this.options.peerOf(address);
    if (this.connections.of(peer) >= this.options.connections) return 'tooManyConnections';
    if (this.open >= this.options.allConnections) return 'full';
    this.connections.add(peer);
    this.open += 1;
    return undefined;
  }

  /** Ends a counted connection. */
  disconnect(address: string): void {
    this.open -= 1;
    this.connections.remove(this.options.peerOf(address));
  }

  /** Counts a recipient. @returns whether the address is within its rate */
  allowRecipient(address: string): boolean {
    const { recipients: limit } = this.options;
    if (limit === null) return true;
    const peer = this.options.peerOf(address);
    const nowUs = Math.floor(performance.now() * 1_000);
    const known = this.buckets.get(peer) ?? { missing: 0, atUs: nowUs };
    const { granted, bucket } = takeTokens(refill(known, limit, nowUs), limit, 1);
    this.buckets.set(peer, bucket);
    return granted === 1;
  }
}
