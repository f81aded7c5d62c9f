import type { Answer } from './api.ts';

/** A rate limit, as the headers of an answer report it. */
export interface ReportedRate {
  readonly policy: string;
  /** How many requests are allowed in a window, and its length in seconds. */
  readonly quota: number;
  readonly window: number;
  readonly remaining: number;
  /** In how many seconds one more is allowed; undefined when the whole quota is. */
  readonly next: number | undefined;
}

/** The forms of both headers: a String with Integers as its parameters (RFC 9651), as in the IETF draft. */
const POLICY = /^"([a-z-]+)";q=([1-9]\d{0,14});w=([1-9]\d{0,14})$/;
const STATE = /^"([a-z-]+)";r=(\d{1,15})(?:;t=(\d{1,15}))?$/;

/** Parses `RateLimit-Policy` and `RateLimit`. @throws when one is missing or malformed, or they are of different policies */
export function rateIn({ headers }: Pick<Answer, 'headers'>): ReportedRate {
  const given = [headers.get('ratelimit-policy') ?? '', headers.get('ratelimit') ?? ''] as const;
  const [, policy, quota, window] = POLICY.exec(given[0]) ?? [];
  const [, ofPolicy, remaining, next] = STATE.exec(given[1]) ?? [];
  if (policy === undefined || policy !== ofPolicy) throw new Error(`no rate limit in ${given.join(' and ')}`);
  return {
    policy,
    quota: Number(quota),
    window: Number(window),
    remaining: Number(remaining),
    next: next === undefined ? undefined : Number(next),
  };
}
