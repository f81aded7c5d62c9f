import type { ServerResponse } from 'node:http';
import { Refusal } from '@posthorn/kernel';
import {
  type AddressRange,
  perSecond,
  type RateLimit,
  rateLimitPolicy,
  rateLimitState,
  type RateVerdict,
  wholeSeconds,
} from '@posthorn/domain';
import { clientAddress, networkOf, type SentBy } from '@posthorn/platform';
import { bucketIdOf, type RateLimiter } from '@posthorn/queues';
import type { Principal } from './principal.ts';

/** The names of the policies in the rate limit headers. */
const KEY_POLICY = 'key';
const FAILURE_POLICY = 'failed-authentications';

interface RateLimitsOptions {
  readonly limiter: Pick<RateLimiter, 'takeToken' | 'peek'>;
  /** Requests per second of a key, unless its workspace has a limit of its own; 0: no limit. */
  readonly requestsPerSecond: number;
  /** Burst of a key; 0: no limit. */
  readonly burst: number;
  /** Failed authentications of an address per minute, and its burst; 0: no limit. */
  readonly failuresPerMinute: number;
  /** The proxies whose `X-Forwarded-For` is trusted. */
  readonly trustedProxies: readonly AddressRange[];
}

type Headers = readonly (readonly [name: string, value: string])[];

/** A limit, and its `RateLimit-Policy` header. */
interface Policy {
  readonly name: string;
  readonly limit: RateLimit;
  readonly text: string;
}

/** The verdict on a request of a key, and the policy it follows from. */
interface KeyVerdict {
  readonly policy: Policy;
  readonly verdict: RateVerdict;
}

/** The rate limits of keys, and of addresses that send requests without a valid key; and the headers for both. */
export class RateLimits {
  private readonly failurePolicy: Policy | null;

  constructor(private readonly options: RateLimitsOptions) {
    const { failuresPerMinute: amount } = options;
    this.failurePolicy = policyOf(
      FAILURE_POLICY,
      amount > 0 ? { amount, periodSeconds: 60, burst: amount } : null,
    );
  }

  /**
   * The rate limit headers for a request whose key was not checked: those of its address, as far as this process knows them.
   */
  headersOf(request: SentBy): Headers {
    if (this.failurePolicy === null) return [];
    const { limit } = this.failurePolicy;
    const known = this.options.limiter.peek(FAILURE_POLICY, () => this.networkIdOf(request), limit);
    return headersOf(this.failurePolicy, known ?? { remaining: limit.burst, nextAfterMs: 0 });
  }

  /** Counts a request of a key; null: the key has no limit. */
  async judge(principal: Principal): Promise<KeyVerdict | null> {
    const policy = this.policyOf(principal);
    return (
      policy && {
        policy,
        verdict: await this.options.limiter.takeToken(KEY_POLICY, principal.apiKeyId, policy.limit),
      }
    );
  }

  /**
   * Sets the rate limit headers of a key.
   *
   * @throws Refusal (429) when it has made too many requests
   */
  enforce(response: ServerResponse, judged: KeyVerdict | null): void {
    if (judged === null) return;
    const { policy, verdict } = judged;
    setHeaders(response, policy, verdict);
    if (!verdict.allowed) throw tooManyRequests(policy.limit, verdict);
  }

  /**
   * Counts a request without a valid key, and sets the rate limit headers of its address.
   *
   * @param tooMany the refusal of an address that has sent too many; default: that of requests that need a key
   * @throws Refusal (429) when the address has sent too many
   */
  async countFailure(
    request: SentBy,
    response: ServerResponse,
    tooMany: (wait: Wait) => Refusal = tooManyFailures,
  ): Promise<void> {
    if (this.failurePolicy === null) return;
    const verdict = await this.options.limiter.takeToken(
      FAILURE_POLICY,
      this.networkIdOf(request),
      this.failurePolicy.limit,
    );
    setHeaders(response, this.failurePolicy, verdict);
    if (!verdict.allowed) throw tooMany(verdict);
  }

  /** Identifies the network of a client. A digest: addresses are never stored. */
  networkIdOf(request: SentBy): string {
    return bucketIdOf(networkOf(clientAddress(request, this.options.trustedProxies)));
  }

  private policyOf({ ratePerSecond, rateBurst }: Principal): Policy | null {
    const { requestsPerSecond, burst } = this.options;
    return policyOf(KEY_POLICY, perSecond(ratePerSecond ?? requestsPerSecond, rateBurst ?? burst));
  }
}

function policyOf(name: string, limit: RateLimit | null): Policy | null {
  return limit && { name, limit, text: rateLimitPolicy(name, limit) };
}

function headersOf(
  { name, text }: Policy,
  standing: Pick<RateVerdict, 'remaining' | 'nextAfterMs'>,
): Headers {
  return [
    ['RateLimit-Policy', text],
    ['RateLimit', rateLimitState(name, standing)],
  ];
}

function setHeaders(response: ServerResponse, policy: Policy, verdict: RateVerdict): void {
  for (const [name, value] of headersOf(policy, verdict)) response.setHeader(name, value);
}

type Wait = Pick<RateVerdict, 'nextAfterMs'>;

/** The refusal of a key that has made too many requests. */
export function tooManyRequests({ amount, burst }: RateLimit, verdict: Wait): Refusal {
  const rate = `${count(amount, 'request')} a second and ${burst} at once`;
  return tooMany(verdict, (wait) => `The API key may make ${rate}; wait ${wait} and send the request again`);
}

/** The refusal of an address that has sent too many requests without a valid key. */
export function tooManyFailures(verdict: Wait): Refusal {
  return tooMany(
    verdict,
    (wait) =>
      `Too many requests without a valid API key came from this address; wait ${wait}, or send a valid key`,
  );
}

/** The refusal of an address from which too many links without effect were opened; they need no key. */
export function tooManyInvalidLinks(verdict: Wait): Refusal {
  return tooMany(
    verdict,
    (wait) =>
      `Too many links that do not work were opened from this address; wait ${wait} and open the link again`,
  );
}

function tooMany({ nextAfterMs }: Wait, message: (wait: string) => string): Refusal {
  const retryAfterSeconds = wholeSeconds(nextAfterMs);
  return new Refusal(429, message(count(retryAfterSeconds, 'second')), { retryAfterSeconds });
}

function count(number: number, noun: string): string {
  return `${number} ${noun}${number === 1 ? '' : 's'}`;
}
