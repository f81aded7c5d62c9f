import { expect, it } from '@jest/globals';
import type { RateLimit } from '@posthorn/domain';
import { newId, Refusal } from '@posthorn/kernel';
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
const request = {
  rawHeaders: ['Authorization', `Bearer ${newApiKeySecret()}`],
  socket: { remoteAddress: '203.0.113.9' },
} as unknown as Request;
const response = { setHeader: () => undefined } as unknown as Response;

/** Rate limits that tell `ask` what they are asked, and allow what it says. */
const limitsThat = (ask: (policy: string, limit: RateLimit) => boolean): RateLimits =>
  new RateLimits({
    limiter: {
      takeToken: (policy, _id, limit) =>
        Promise.resolve({ allowed: ask(policy, limit), remaining: 1, nextAfterMs: 0 }),
      peek: () => undefined,
    },
    requestsPerSecond: 100,
    burst: 200,
    failuresPerMinute: 20,
    trustedProxies: [],
  });

const OLD = [10, 10];
it.each([
  ['that the old limit allows is not counted again by the new one', true, [20, 20], [OLD]],
  ['that the old limit refuses is judged by the new one', false, [20, 20], [OLD, [20, 20]]],
  ['that the old rate refuses is judged by the new one', false, [20, 10], [OLD, [20, 10]]],
  ['that the old burst refuses is judged by the new one', false, [10, 20], [OLD, [10, 20]]],
])('R1: a request %s', async (_what, isAllowed, [ratePerSecond, rateBurst], judgedBy) => {
  let holder = HOLDER;
  const asked: number[][] = [];
  const limits = limitsThat((_policy, { amount, burst }) => {
    asked.push([amount, burst]);
    return isAllowed || amount + burst > 20;
  });
  const callers = new IdentifyCaller({ authenticate: () => Promise.resolve(holder) }, limits);
  await callers.identify(request, response).catch(() => undefined);
  holder = { ...HOLDER, ratePerSecond: ratePerSecond!, rateBurst: rateBurst! };
  asked.length = 0;
  await expect(callers.identify(request, response)).resolves.toBe(holder);
  expect(asked).toEqual(judgedBy);
  // From the next request on, the new limit is the only one.
  asked.length = 0;
  await callers.identify(request, response).catch(() => undefined);
  expect(asked).toEqual([[ratePerSecond, rateBurst]]);
});

it('R1: a request that the limit refuses is judged once, as long as that limit is the same', async () => {
  const asked: number[][] = [];
  const limits = limitsThat((_policy, { amount, burst }) => asked.push([amount, burst]) === 0);
  const callers = new IdentifyCaller({ authenticate: () => Promise.resolve(HOLDER) }, limits);
  for (const _time of [1, 2])
    await expect(callers.identify(request, response)).rejects.toMatchObject({ statusCode: 429 });
  expect(asked).toEqual([OLD, OLD]);
});

it.each([
  [401 as const, ['failed-authentications']],
  [503 as const, []],
])('R1: a request whose key is answered %i counts against its address, or not', async (status, counted) => {
  const asked: string[] = [];
  const limits = limitsThat((policy) => asked.push(policy) > 0);
  const authenticate = (): Promise<Principal> => Promise.reject(new Refusal(status, 'It is not.'));
  const identified = new IdentifyCaller({ authenticate }, limits).identify(request, response);
  await expect(identified).rejects.toMatchObject({ statusCode: status });
  expect(asked).toEqual(counted);
});

it('R1, K5: a request whose key is checked before its body is read is counted once, and refused if the key was deleted meanwhile', async () => {
  const asked: string[] = [];
  const limits = limitsThat((policy) => asked.push(policy) > 0);
  let isDeleted = false;
  const authenticate = (): Promise<Principal> =>
    isDeleted ? Promise.reject(new Refusal(401, 'It is not.')) : Promise.resolve(HOLDER);
  const callers = new IdentifyCaller({ authenticate }, limits);
  await callers.admit(request, response);
  await expect(callers.identify(request, response)).resolves.toBe(HOLDER);
  expect(asked).toEqual(['key']);
  isDeleted = true;
  await expect(callers.identify(request, response)).rejects.toMatchObject({ statusCode: 401 });
});
