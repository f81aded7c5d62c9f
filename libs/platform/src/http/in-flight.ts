import { Refusal } from '@posthorn/kernel';

/** How much may be worked on at once. */
export interface InFlightLimits {
  readonly maxRequests: number;
  readonly maxBytes: number;
}

const RETRY_AFTER_SECONDS = 1;

/** Counts the requests that are worked on, and the bytes that they hold. */
export class InFlight {
  requests = 0;
  bytes = 0;

  constructor(private readonly limits: InFlightLimits) {}

  /** Lets a request in, or gives back why not. */
  enter(): InFlightShare | Refusal {
    return this.count() ?? new InFlightShare(this, this.limits.maxBytes);
  }

  /** Counts a request, or gives back why not. */
  count(): Refusal | undefined {
    if (this.requests >= this.limits.maxRequests) return overload('requests');
    this.requests++;
    return undefined;
  }
}

/** What one request holds. */
export class InFlightShare {
  private bytes = 0;
  private isCounted = true;
  private left = false;

  constructor(
    private readonly all: InFlight,
    private readonly maxBytes: number,
  ) {}

  /** From now on its caller is waited for, to send a body or to read the answer, and it is not worked on: else whoever does neither kept others out. */
  wait(): void {
    if (!this.isCounted) return;
    this.isCounted = false;
    this.all.requests--;
  }

  /** It is worked on again, or this is why not. */
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
    if (this.all.bytes + more > this.maxBytes) return overload('request bodies');
    this.all.bytes += more;
    this.bytes = bytes;
    return undefined;
  }

  /** Gives back everything; a second call changes nothing. */
  leave(): void {
    if (this.left) return;
    this.left = true;
    this.wait();
    this.all.bytes -= this.bytes;
  }
}

function overload(what: string): Refusal {
  return new Refusal(503, `Too many ${what} are being worked on; try again in a moment`, {
    retryAfterSeconds: RETRY_AFTER_SECONDS,
  });
}
