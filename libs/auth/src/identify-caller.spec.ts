import { expect, it } from '@jest/globals';
import type { RateLimit } from '@posthorn/domain';
import { newId } from '@posthorn/kernel';
import { newApiKeySecret } from '@posthorn/signing';
import type { Request, Response } from 'express';
import { IdentifyCaller } from './identify-caller.ts';
import type { Principal } from './principal.ts';
import { RateLimits } from './rate-limits.ts';

const HOLDER: Principal = {
  apiKeyId: newId('aki', Date.now()),
  workspaceId: newId('wrk', Date.now()),
  displayName: 'Web shop',
  role: 'API_USER',
  ratePerSecond: 10,
  rateBurst: 10,
};

it.each([
  ['a request that the old limit allows is not counted again by the new one', true, [10]],
  ['a request that the old limit refuses is judged by the new one', false, [10, 20]],
])('R1: %s', async (_what, isAllowed, judgedBy) => {
  let holder = HOLDER;
  const asked: RateLimit[] = [];
  const limits = new RateLimits({
    limiter: {
      takeToken: (_policy, _id, limit) => {
        asked.push(limit);
        return Promise.resolve({ allowed: isAllowed || limit.burst === 20, remaining: 1, nextAfterMs: 0 });
      },
      peek: () => undefined,
    },
    requestsPerSecond: 100,
    burst: 200,
    failuresPerMinute: 20,
    trustedProxies: [],
  });
  const callers = new IdentifyCaller({ authenticate: () => Promise.resolve(holder) }, limits);
  const request = { rawHeaders: ['Authorization', `Bearer ${newApiKeySecret()}`] } as Request;
  const response = { setHeader: () => undefined } as unknown as Response;
  await callers.identify(request, response).catch(() => undefined);
  holder = { ...HOLDER, ratePerSecond: 20, rateBurst: 20 };
  asked.length = 0;
  await expect(callers.identify(request, response)).resolves.toBe(holder);
  expect(asked.map(({ burst }) => burst)).toEqual(judgedBy);
});
