import { Refusal } from '@posthorn/kernel';

/** Limits of requests in flight. */
export interface InFlightLimits {
  readonly maxRequests: number;
  readonly maxBytes: number;
}

const RETRY_AFTER_SECONDS = 1;

/** Counts the requests in flight, and the bytes of their bodies. */
export class InFlight {
  requests = 0;
  bytes = 0;
  private readonly bytesBySender = new Map<string, number>();

  /** @param maxBytesPerSender how many of the bytes a single sender may hold */
  constructor(
    private readonly limits: InFlightLimits,
    private readonly maxBytesPerSender = limits.maxBytes,
  ) {}

  /** Admits a request, or returns the refusal. */
  enter(): InFlightShare | Refusal {
    return this.count() ?? new InFlightShare(this);
  }

  /** Counts a request, or returns the refusal. */
  count(): Refusal | undefined {
    if (this.requests >= this.limits.maxRequests) return overload('requests');
    this.requests++;
    return undefined;
  }

  /** Reserves bytes, or returns the refusal. */
  take(bytes: number, sender: string | undefined): Refusal | undefined {
    if (this.bytes + bytes > this.limits.maxBytes) return overload('request bodies');
    const refusal = sender === undefined ? undefined : this.chargeTo(sender, bytes);
    if (refusal === undefined) this.bytes += bytes;
    return refusal;
  }

  /** Charges bytes to a sender, or returns the refusal. */
  chargeTo(sender: string, bytes: number): Refusal | undefined {
    const held = (this.bytesBySender.get(sender) ?? 0) + bytes;
    if (held > this.maxBytesPerSender) return overload('request bodies of yours');
    this.bytesBySender.set(sender, held);
    return undefined;
  }

  release(bytes: number, sender: string | undefined): void {
    this.bytes -= bytes;
    if (sender === undefined) return;
    const held = (this.bytesBySender.get(sender) ?? 0) - bytes;
    if (held > 0) this.bytesBySender.set(sender, held);
    else this.bytesBySender.delete(sender);
  }
}

/** The share of one request in what is in flight. */
export class InFlightShare {
  private bytes = 0;
  private sender: string | undefined;
  private isCounted = true;
  private left = false;

  constructor(private readonly all: InFlight) {}

  /** From now on, the request waits for its caller to send the body or read the response, and does not count: otherwise slow callers would block others. */
  wait(): void {
    if (!this.isCounted) return;
    this.isCounted = false;
    this.all.requests--;
  }

  /** Counts the request again, or returns the refusal. */
  resume(): Refusal | undefined {
    if (this.left || this.isCounted) return undefined;
    const refusal = this.all.count();
    this.isCounted = refusal === undefined;
    return refusal;
  }

  /** Increases the bytes of this request to `bytes`, or returns the refusal. */
  hold(bytes: number): Refusal | undefined {
    const more = bytes - this.bytes;
    if (this.left || more <= 0) return undefined;
    const refusal = this.all.take(more, this.sender);
    if (refusal === undefined) this.bytes = bytes;
    return refusal;
  }

  /** Charges the bytes of this request to a sender from now on, or returns the refusal. */
  assignTo(sender: string): Refusal | undefined {
    if (this.left) return undefined;
    const refusal = this.all.chargeTo(sender, this.bytes);
    if (refusal === undefined) this.sender = sender;
    return refusal;
  }

  /** Releases its bytes, which were discarded, although it is still being answered. */
  drop(): void {
    this.all.release(this.bytes, this.sender);
    this.bytes = 0;
  }

  /** Releases everything; a second call changes nothing. */
  leave(): void {
    this.drop();
    this.left = true;
    this.wait();
  }
}

/** The refusal of more than may be worked on at once, such as `requests`. */
export function overload(what: string): Refusal {
  return new Refusal(503, `Too many ${what} are being worked on; try again in a moment`, {
    retryAfterSeconds: RETRY_AFTER_SECONDS,
  });
}
