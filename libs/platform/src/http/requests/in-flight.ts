import { Counts, Refusal } from '@posthorn/kernel';

/** Limits of requests in flight. */
export interface InFlightLimits {
  readonly maxRequests: number;
  readonly maxBytes: number;
}

/** Counts the requests in flight, and the bytes of their bodies. */
export class InFlight {
  requests = 0;
  bytes = 0;
  private readonly requestsBySender: Tally;
  private readonly bytesBySender: Tally;

  /** @param ofSender what of this a single sender may have */
  constructor(
    private readonly limits: InFlightLimits,
    ofSender = limits,
  ) {
    this.requestsBySender = new Tally(ofSender.maxRequests);
    this.bytesBySender = new Tally(ofSender.maxBytes);
  }

  /** Admits a request, or returns the refusal. */
  enter(): InFlightShare | Refusal {
    return this.count() ?? new InFlightShare(this);
  }

  /** Counts a request, or returns the refusal. */
  count(sender?: string): Refusal | undefined {
    if (this.requests >= this.limits.maxRequests) return overload('requests');
    const refusal = sender === undefined ? undefined : this.assign(sender, 1, 0);
    if (refusal === undefined) this.requests++;
    return refusal;
  }

  uncount(sender: string | undefined): void {
    this.requests--;
    if (sender !== undefined) this.requestsBySender.remove(sender);
  }

  /** Reserves bytes, or returns the refusal. */
  take(bytes: number, sender: string | undefined): Refusal | undefined {
    if (this.bytes + bytes > this.limits.maxBytes) return overload('request bodies');
    const refusal = sender === undefined ? undefined : this.assign(sender, 0, bytes);
    if (refusal === undefined) this.bytes += bytes;
    return refusal;
  }

  release(bytes: number, sender: string | undefined): void {
    this.bytes -= bytes;
    if (sender !== undefined) this.bytesBySender.remove(sender, bytes);
  }

  /** Charges what is counted already to a sender, or returns the refusal. */
  assign(sender: string, requests: number, bytes: number): Refusal | undefined {
    if (!this.requestsBySender.take(sender, requests)) return overload('requests of yours');
    if (this.bytesBySender.take(sender, bytes)) return undefined;
    this.requestsBySender.remove(sender, requests);
    return overload('request bodies of yours');
  }
}

/** How much each sender has of something. */
class Tally extends Counts<string> {
  constructor(private readonly max: number) {
    super();
  }

  /** Adds to what a sender has, if it may have that much. */
  take(sender: string, amount: number): boolean {
    if (this.of(sender) + amount > this.max) return false;
    if (amount > 0) this.add(sender, amount);
    return true;
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
    this.all.uncount(this.sender);
  }

  /** Counts the request again, or returns the refusal. */
  resume(): Refusal | undefined {
    if (this.left || this.isCounted) return undefined;
    const refusal = this.all.count(this.sender);
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

  /** Makes a sender responsible for this request from now on, or returns the refusal. */
  assignTo(sender: string): Refusal | undefined {
    if (this.sender !== undefined) return undefined;
    const refusal = this.all.assign(sender, this.isCounted ? 1 : 0, this.bytes);
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
  return new Refusal(503, `Too many ${what} are being processed; try again in a moment`);
}
