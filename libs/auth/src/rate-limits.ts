import { createHash } from 'node:crypto';
import type { ServerResponse } from 'node:http';
import { Refusal } from '@posthorn/kernel';
import {
  type AddressRange,
  perSecond,
  type RateLimit,
  rateLimitFields,
  type RateVerdict,
  wholeSeconds,
} from '@posthorn/domain';
import { clientAddress, networkOf, type SentBy } from '@posthorn/platform';
import { type RateLimiter } from '@posthorn/queues';
import { type Principal } from './principal.ts';

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

/** How often a key may ask, and how often an address may ask without one; and how answers tell of it. */
export class RateLimits {
  private readonly failures: RateLimit | null;

  constructor(private readonly options: RateLimitsOptions) {
    const { failuresPerMinute: amount } = options;
    this.failures = amount > 0 ? { amount, periodSeconds: 60, burst: amount } : null;
  }

  /**
   * The headers of an answer to a request whose key nobody has judged: how the address stands, as far as this process
   * knows.
   */
  headersOf(request: SentBy): Headers {
    if (this.failures === null) return [];
    const standing = this.options.limiter.peek(FAILURES, () => this.addressId(request), this.failures);
    return headersOf(FAILURES, this.failures, standing);
  }

  /**
   * Counts a request of a valid key, and puts how the key stands into the answer.
   *
   * @throws Refusal (429) when it has made too many
   */
  async countRequest(principal: Principal, response: ServerResponse): Promise<void> {
    const { requestsPerSecond, burst } = this.options;
    const limit = perSecond(principal.ratePerSecond ?? requestsPerSecond, principal.rateBurst ?? burst);
    if (limit === null) return;
    const verdict = await this.judge(KEY, principal.apiKeyId, limit, response);
    if (verdict.allowed) return;
    const rate = `${count(limit.amount, 'request')} a second and ${limit.burst} at once`;
    throw tooMany(verdict, (wait) => `The API key may make ${rate}; wait ${wait} and send the request again`);
  }

  /**
   * Counts a request without a valid key, and puts how its address stands into the answer.
   *
   * @throws Refusal (429) when too many came from there
   */
  async countFailure(request: SentBy, response: ServerResponse): Promise<void> {
    if (this.failures === null) return;
    const verdict = await this.judge(FAILURES, this.addressId(request), this.failures, response);
    if (verdict.allowed) return;
    throw tooMany(
      verdict,
      (wait) =>
        `Too many requests without a valid API key came from this address; wait ${wait}, or send a valid key`,
    );
  }

  private async judge(
    policy: string,
    id: string,
    limit: RateLimit,
    response: ServerResponse,
  ): Promise<RateVerdict> {
    const verdict = await this.options.limiter.judge(policy, id, limit);
    for (const [name, value] of headersOf(policy, limit, verdict)) response.setHeader(name, value);
    return verdict;
  }

  /** An address is never written down; its digest is enough to count it. */
  private addressId(request: SentBy): string {
    const network = networkOf(clientAddress(request, this.options.trustedProxies));
    return createHash('sha256').update(network).digest('base64url').slice(0, 22);
  }
}

function headersOf(policy: string, limit: RateLimit, verdict: RateVerdict): Headers {
  const fields = rateLimitFields(policy, limit, verdict);
  return [
    ['RateLimit-Policy', fields.policy],
    ['RateLimit', fields.state],
  ];
}

function tooMany({ nextAfterMs }: RateVerdict, message: (wait: string) => string): Refusal {
  const retryAfterSeconds = wholeSeconds(nextAfterMs);
  return new Refusal(429, message(count(retryAfterSeconds, 'second')), { retryAfterSeconds });
}

function count(number: number, noun: string): string {
  return `${number} ${noun}${number === 1 ? '' : 's'}`;
}
