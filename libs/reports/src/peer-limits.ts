import { BoundedMap } from '@posthorn/kernel';
import { type Bucket, type RateLimit, refill, takeTokens } from '@posthorn/domain';

export interface PeerLimitsOptions {
  /** How many connections there may be in all. */
  readonly allConnections: number;
  /** How many connections an address may have at once. */
  readonly connections: number;
  /** How many recipients an address may name; null: any number. */
  readonly recipients: RateLimit | null;
  /** What counts as one address: of IPv6 the network that one client has. */
  readonly peerOf: (address: string) => string;
}

/** Beyond these, who was longest not heard of is forgotten. */
const MAX_PEERS = 10_000;

/** What each address that connects may still do. */
export class PeerLimits {
  private readonly connections = new Map<string, number>();
  private open = 0;
  private readonly buckets = new BoundedMap<string, Bucket>(MAX_PEERS);

  constructor(private readonly options: PeerLimitsOptions) {}

  /** Counts a connection. @returns why there may be no further one, in which case it is not counted */
  connect(address: string): 'tooManyConnections' | 'full' | undefined {
    const peer = this.options.peerOf(address);
    const open = this.connections.get(peer) ?? 0;
    if (open >= this.options.connections) return 'tooManyConnections';
    if (this.open >= this.options.allConnections) return 'full';
    this.connections.set(peer, open + 1);
    this.open += 1;
    return undefined;
  }

  /** A connection that was counted has ended. */
  disconnect(address: string): void {
    this.open -= 1;
    const peer = this.options.peerOf(address);
    const open = (this.connections.get(peer) ?? 1) - 1;
    if (open > 0) this.connections.set(peer, open);
    else this.connections.delete(peer);
  }

  /** Whether the address may name one more recipient just now. */
  mayNameRecipient(address: string): boolean {
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
