import { describe, expect, it } from '@jest/globals';
import { newId } from '@posthorn/kernel';
import type { RateLimit } from '@posthorn/domain';
import type { Principal } from './principal.ts';
import { RateLimits } from './rate-limits.ts';

const FULL = { allowed: true, remaining: 1, nextAfterMs: 0 } as const;
const CALLER = {
  apiKeyId: newId('aki', Date.now()),
  workspaceId: newId('wrk', Date.now()),
  displayName: 'Web shop',
  role: 'API_USER',
} as const;

/** The limit applied to a key of a workspace with these limits. */
async function limitOf(own: Pick<Principal, 'ratePerSecond' | 'rateBurst'>): Promise<RateLimit | undefined> {
  let judgedBy: RateLimit | undefined;
  const limits = new RateLimits({
    limiter: {
      takeToken: (_name, _id, limit) => {
        judgedBy = limit;
        return Promise.resolve(FULL);
      },
      peek: () => undefined,
    },
    requestsPerSecond: 100,
    burst: 200,
    failuresPerMinute: 20,
    trustedProxies: [],
  });
  await limits.judge({ ...CALLER, ...own });
  return judgedBy;
}

describe('R1: the limit of a key', () => {
  it.each([
    ['is that of the installation', null, null, { amount: 100, burst: 200 }],
    ['is that of its workspace', 5, 7, { amount: 5, burst: 7 }],
    ['has the rate of its workspace, and the burst of the installation', 5, null, { amount: 5, burst: 200 }],
    ['has the burst of its workspace, and the rate of the installation', null, 7, { amount: 100, burst: 7 }],
  ])('%s', async (_what, ratePerSecond, rateBurst, numbers) => {
    expect(await limitOf({ ratePerSecond, rateBurst })).toEqual({ ...numbers, periodSeconds: 1 });
  });

  it.each([
    ['rate', 0, null],
    ['burst', null, 0],
  ])('does not exist where the %s of its workspace is 0', async (_what, ratePerSecond, rateBurst) => {
    expect(await limitOf({ ratePerSecond, rateBurst })).toBeUndefined();
  });
});
