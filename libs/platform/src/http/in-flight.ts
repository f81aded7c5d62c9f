import { Refusal } from '@posthorn/kernel';

/** How much may be worked on at once. */
export interface InFlightLimits {
  readonly maxRequests: number;
  readonly maxBytes: number;
  /** How many of these bytes one sender may hold. Default: all. */
  readonly maxBytesOfOne?: number;
}

const RETRY_AFTER_SECONDS = 1;

/** Counts the requests that are worked on, and the bytes that they hold. */
export class InFlight {
  requests = 0;
  bytes = 0;
  private readonly bytesBySender = new Map<string, number>();

  constructor(private readonly limits: InFlightLimits) {}

  /** Lets a request in, or gives back why not. */
  enter(): InFlightShare | Refusal {
    return this.count() ?? new InFlightShare(this);
  }

  /** Counts a request, or gives back why not. */
  count(): Refusal | undefined {
    if (this.requests >= this.limits.maxRequests) return overload('requests');
    this.requests++;
    return undefined;
  }

  /** Takes more bytes, or gives back why not. */
  take(bytes: number, sender: string | undefined): Refusal | undefined {
    if (this.bytes + bytes > this.limits.maxBytes) return overload('request bodies');
    const refusal = sender === undefined ? undefined : this.chargeTo(sender, bytes);
    if (refusal === undefined) this.bytes += bytes;
    return refusal;
  }

  /** Counts bytes as a sender's, or gives back why not. */
  chargeTo(sender: string, bytes: number): Refusal | undefined {
    const { maxBytes, maxBytesOfOne = maxBytes } = this.limits;
    const held = (this.bytesBySender.get(sender) ?? 0) + bytes;
    if (held > maxBytesOfOne) return overload('request bodies of yours');
    this.bytesBySender.set(sender, held);
    return undefined;
  }

  giveBack(bytes: number, sender: string | undefined): void {
    this.bytes -= bytes;
    if (sender === undefined) return;
    const held = (this.bytesBySender.get(sender) ?? 0) - bytes;
    if (held > 0) this.bytesBySender.set(sender, held);
    else this.bytesBySender.delete(sender);
  }
}

/** What one request holds. */
export class InFlightShare {
  private bytes = 0;
  private sender: string | undefined;
  private isCounted = true;
  private left = false;

  constructor(private readonly all: InFlight) {}

  /** From now on the request waits for its caller, who is to send a body or read the answer, and does not count: otherwise callers who do neither would keep others out. */
  wait(): void {
    if (!this.isCounted) return;
    this.isCounted = false;
    this.all.requests--;
  }

  /** Counts it as worked on again, or gives back why not. */
  goOn(): Refusal | undefined {
    if (this.left || this.isCounted) return undefined;
    const refusal = this.all.count();
    this.isCounted = refusal === undefined;
    return refusal;
  }

  /** Makes this request hold `bytes` in all, or gives back why it may not. */
  hold(bytes: number): Refusal | undefined {
    const more = bytes - this.bytes;
    if (this.left || more <= 0) return undefined;
    const refusal = this.all.take(more, this.sender);
    if (refusal === undefined) this.bytes = bytes;
    return refusal;
  }

  /** Says who sends it: what it holds counts as theirs from now on. Or gives back why that would be too much. */
  belongTo(sender: string): Refusal | undefined {
    if (this.left) return undefined;
    const refusal = this.all.chargeTo(sender, this.bytes);
    if (refusal === undefined) this.sender = sender;
    return refusal;
  }

  /** Gives its bytes back, which were dropped, though its answer is still on its way. */
  drop(): void {
    if (this.left) return;
    this.all.giveBack(this.bytes, this.sender);
    this.bytes = 0;
  }

  /** Gives back everything; a second call changes nothing. */
  leave(): void {
    if (this.left) return;
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
