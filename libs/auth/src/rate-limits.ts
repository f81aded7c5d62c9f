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

/** The names of the policies, as callers see them. */
const KEY = 'key';
const FAILURES = 'failed-authentications';

export interface RateLimitsOptions {
  readonly limiter: Pick<RateLimiter, 'judge' | 'peek'>;
  /** What a key may ask in a second, unless its workspace has a number of its own; 0: no limit. */
  readonly requestsPerSecond: number;
  /** What it may ask at once; 0: no limit. */
  readonly burst: number;
  /** How often in a minute an address may fail to authenticate, after as many times at once; 0: no limit. */
  readonly failuresPerMinute: number;
  /** The proxies whose word about an address counts. */
  readonly trustedProxies: readonly AddressRange[];
}

type Headers = readonly (readonly [name: string, value: string])[];

/** A limit, and how callers are told of it. */
interface Policy {
  readonly name: string;
  readonly limit: RateLimit;
  readonly text: string;
}

/** How a key stands after a request, by which policy. */
export interface Judged {
  readonly policy: Policy;
  readonly verdict: RateVerdict;
}

/** How often a key may ask, and how often an address may ask without one; and how answers tell of it. */
export class RateLimits {
  private readonly ofKeys: Policy | null;
  private readonly failures: Policy | null;
  private readonly noFailures: Headers;

  constructor(private readonly options: RateLimitsOptions) {
    const { requestsPerSecond, burst, failuresPerMinute: amount } = options;
    this.ofKeys = policyOf(KEY, perSecond(requestsPerSecond, burst));
    this.failures = policyOf(FAILURES, amount > 0 ? { amount, periodSeconds: 60, burst: amount } : null);
    this.noFailures =
      this.failures === null
        ? []
        : headersOf(this.failures, { remaining: this.failures.limit.burst, nextAfterMs: 0 });
  }

  /**
   * The headers of an answer to a request whose key nobody has judged: how the address stands, as far as this process
   * knows.
   */
  headersOf(request: SentBy): Headers {
    if (this.failures === null) return this.noFailures;
    const { limiter } = this.options;
    const standing = limiter.peek(FAILURES, () => this.addressId(request), this.failures.limit);
    return standing === undefined ? this.noFailures : headersOf(this.failures, standing);
  }

  /** Counts a request of a key; null: it has no limit. */
  async judge(principal: Principal): Promise<Judged | null> {
    const policy = this.policyOf(principal);
    return (
      policy && { policy, verdict: await this.options.limiter.judge(KEY, principal.apiKeyId, policy.limit) }
    );
  }

  /**
   * Puts how a key stands into the answer.
   *
   * @throws Refusal (429) when it has made too many requests
   */
  tell(response: ServerResponse, judged: Judged | null): void {
    if (judged === null) return;
    const { policy, verdict } = judged;
    tell(response, policy, verdict);
    if (verdict.allowed) return;
    const { amount, burst } = policy.limit;
    const rate = `${count(amount, 'request')} a second and ${burst} at once`;
    throw tooMany(verdict, (wait) => `The API key may make ${rate}; wait ${wait} and send the request again`);
  }

  /**
   * Counts a request without a valid key, and puts how its address stands into the answer.
   *
   * @throws Refusal (429) when too many came from there
   */
  async countFailure(request: SentBy, response: ServerResponse): Promise<void> {
    if (this.failures === null) return;
    const verdict = await this.options.limiter.judge(FAILURES, this.addressId(request), this.failures.limit);
    tell(response, this.failures, verdict);
    if (verdict.allowed) return;
    throw tooMany(
      verdict,
      (wait) =>
        `Too many requests without a valid API key came from this address; wait ${wait}, or send a valid key`,
    );
  }

  private policyOf({ ratePerSecond, rateBurst }: Principal): Policy | null {
    if (ratePerSecond === null && rateBurst === null) return this.ofKeys;
    const { requestsPerSecond, burst } = this.options;
    return policyOf(KEY, perSecond(ratePerSecond ?? requestsPerSecond, rateBurst ?? burst));
  }

  /** An address is never written down; its digest is enough to count it. */
  private addressId(request: SentBy): string {
    return bucketIdOf(networkOf(clientAddress(request, this.options.trustedProxies)));
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

function tell(response: ServerResponse, policy: Policy, verdict: RateVerdict): void {
  for (const [name, value] of headersOf(policy, verdict)) response.setHeader(name, value);
}

function tooMany({ nextAfterMs }: RateVerdict, message: (wait: string) => string): Refusal {
  const retryAfterSeconds = wholeSeconds(nextAfterMs);
  return new Refusal(429, message(count(retryAfterSeconds, 'second')), { retryAfterSeconds });
}

function count(number: number, noun: string): string {
  return `${number} ${noun}${number === 1 ? '' : 's'}`;
}
