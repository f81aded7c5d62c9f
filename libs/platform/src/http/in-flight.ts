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
    if (this.requests >= this.limits.maxRequests) return overload('requests');
    this.requests++;
    return new InFlightShare(this, this.limits.maxBytes);
  }
}

/** What one request holds. */
export class InFlightShare {
  private bytes = 0;
  private left = false;

  constructor(
    private readonly all: InFlight,
    private readonly maxBytes: number,
  ) {}

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
    this.all.requests--;
    this.all.bytes -= this.bytes;
  }
}

function overload(what: string): Refusal {
  return new Refusal(503, `Too many ${what} are being worked on; try again in a moment`, {
    retryAfterSeconds: RETRY_AFTER_SECONDS,
  });
}
