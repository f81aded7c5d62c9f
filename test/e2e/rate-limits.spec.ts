import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { newApiKeySecret } from '@posthorn/signing';
import { type Answer, Api, type RequestOptions } from './api.ts';
import { rateIn } from './rates.ts';
import { validEmail, Stack, type Tenant, until } from './stack.ts';

const EMAIL = '/v1/emails/trs_01h455vb4pex5vsknk084sn02q';
const BURST = 20;

const statuses = (answers: readonly Answer[]): Record<number, number> => {
  const counts: Record<number, number> = {};
  for (const { status } of answers) counts[status] = (counts[status] ?? 0) + 1;
  return counts;
};

/** Sends many requests concurrently. @returns the answers and the duration in seconds */
async function flood(count: number, ask: (index: number) => Promise<Answer>) {
  const startedAt = performance.now();
  const answers = await Promise.all(Array.from({ length: count }, (_, index) => ask(index)));
  return { answers, seconds: (performance.now() - startedAt) / 1_000 };
}

/** Runs a scenario with a key, and repeats it with another if a busy machine took so long that one more request was allowed. */
async function withinASecond<Result>(
  newKey: () => Promise<string>,
  scene: (key: string) => Promise<Result>,
): Promise<Result> {
  for (;;) {
    const key = await newKey();
    const startedAt = performance.now();
    const result = await scene(key);
    if (performance.now() - startedAt < 1_000) return result;
  }
}

/**
 * How many buckets there were for what should have been one: where the machine was so busy that a gateway heard nothing
 * from Redis in time, it has limited by itself (rule R3).
 */
const bucketsOf = ({ logs, gateways }: Stack): number =>
  logs.includes('did not answer the rate limiter in time') ? gateways.length : 1;

describe('requests of a key', () => {
  const stack = Stack.forTests({
    gateways: 2,
    sends: false,
    env: {
      RATE_LIMIT_PER_SECOND: '1',
      RATE_LIMIT_BURST: String(BURST),
      FAILED_AUTHENTICATIONS_PER_MINUTE: '20',
    },
  });

  let tenants = 0;
  const newTenant = (): Promise<Tenant> => stack.createTenant(`Tenant ${(tenants += 1)}`);
  const apiOf = (key: string, gateway = 0): Api => new Api(stack.gateways[gateway]!.url, key);

  it('R1: are limited over all gateways together, for each key separately', async () => {
    const { keys } = await newTenant();
    const { answers, seconds } = await flood(4 * BURST, (index) => apiOf(keys.apiUser, index % 2).get(EMAIL));
    const { 404: allowed = 0, 429: refused = 0 } = statuses(answers);
    expect(allowed + refused).toBe(4 * BURST);
    expect(allowed).toBeGreaterThanOrEqual(BURST);
    expect(allowed).toBeLessThanOrEqual((BURST + seconds + 1) * bucketsOf(stack));
    expect((await apiOf(keys.viewer).get(EMAIL)).status).toBe(404);
  });

  it('R1, R2: are answered 429 with the time to wait, and served afterwards', async () => {
    const { keys } = await newTenant();
    const { answers } = await flood(2 * BURST, () => apiOf(keys.apiUser).get(EMAIL));
    const refused = answers.find(({ status }) => status === 429)!;
    expect(refused.body).toStrictEqual({
      statusCode: 429,
      error: 'Too Many Requests',
      message:
        'The API key may make 1 request a second and 20 at once; wait 1 second and send the request again',
    });
    expect(refused.headers.get('retry-after')).toBe('1');
    expect(rateIn(refused)).toEqual({ policy: 'key', quota: BURST, window: BURST, remaining: 0, next: 1 });
    await sleep(1_050);
    expect((await apiOf(keys.apiUser).get(EMAIL)).status).toBe(404);
  });

  it('G6: are logged with their workspace and key when they are refused', async () => {
    const { keys, workspaceId } = await newTenant();
    await flood(2 * BURST, () => apiOf(keys.apiUser).get(EMAIL));
    const refused = (): unknown[] =>
      stack.logs
        .split('\n')
        .filter((line) => line.includes('"status":429') && line.includes(workspaceId))
        .map((line) => JSON.parse(line) as unknown);
    await until(() => refused().length > 0, 'a refusal is logged');
    expect(refused()[0]).toMatchObject({ msg: 'request', apiKeyId: expect.stringMatching(/^aki_/) });
  });

  it('R2: are answered with the number of remaining requests', async () => {
    const { first, answers } = await withinASecond(
      async () => (await newTenant()).keys.apiUser,
      async (key) => {
        const answer = await apiOf(key).get(EMAIL);
        return { first: answer, ...(await flood(5, () => apiOf(key).get(EMAIL))) };
      },
    );
    expect(rateIn(first)).toEqual({
      policy: 'key',
      quota: BURST,
      window: BURST,
      remaining: BURST - 1,
      next: 1,
    });
    const left = answers.map((answer) => rateIn(answer).remaining).sort((one, other) => other - one);
    expect(new Set(left).size).toBe(5);
    expect(left[4]).toBeGreaterThanOrEqual(BURST - 6);
    expect(left[4]).toBeLessThanOrEqual(BURST - 5);
  });

  it('G5: are refused for the rate limit before the scope, but after the credential', async () => {
    const { keys } = await newTenant();
    const api = apiOf(keys.viewer);
    const { answers } = await flood(4 * BURST, () => api.post('/v1/emails', validEmail()));
    expect(Object.keys(statuses(answers))).toEqual(['401', '429']);
    expect((await api.get(EMAIL, { key: `${keys.viewer}x` })).status).toBe(401);
  });

  it('K6, X6: are limited when they only check the key, too', async () => {
    const { keys } = await newTenant();
    const { answers } = await flood(4 * BURST, () => apiOf(keys.viewer).get('/v1/api-keys/check'));
    expect(Object.keys(statuses(answers))).toEqual(['200', '429']);
  });

  it('R1: have the limits of their workspace where that has its own', async () => {
    const { keys, workspaceId } = await newTenant();
    await stack.setRates(workspaceId, { ratePerSecond: 2, rateBurst: 4 });
    const { answers, seconds } = await flood(20, () => apiOf(keys.apiUser).get(EMAIL));
    expect(statuses(answers)[404]).toBeGreaterThanOrEqual(4);
    expect(statuses(answers)[404]).toBeLessThanOrEqual((4 + 2 * (seconds + 1)) * bucketsOf(stack));
    expect(rateIn(answers[0]!)).toMatchObject({ quota: 4, window: 2 });
    await stack.setRates(workspaceId, { ratePerSecond: 0, rateBurst: null });
    expect(statuses((await flood(60, () => apiOf(keys.apiUser).get(EMAIL))).answers)).toEqual({ 404: 60 });
  });

  it('R1: are counted once, however long their bodies are', async () => {
    const { keys, workspaceId } = await newTenant();
    await stack.setRates(workspaceId, { ratePerSecond: 1, rateBurst: 1 });
    const email = { ...validEmail(), html: 'x'.repeat(100_000) };
    expect((await apiOf(keys.apiUser).post('/v1/emails', email)).status).toBe(200);
  });

  describe('R2: RateLimit and RateLimit-Policy, on an answer', () => {
    let tenant: Tenant;
    beforeAll(async () => {
      tenant = await newTenant();
      await stack.setRates(tenant.workspaceId, { ratePerSecond: 1_000, rateBurst: 1_000 });
    });

    type Ask = (api: Api, options: RequestOptions) => Promise<Answer>;
    const raw = (...lines: string[]): Ask => {
      return (api) => api.raw([...lines, 'Connection: close']);
    };
    const cases: [what: string, status: number, policy: string, ask: Ask][] = [
      ['that is a success', 200, 'key', (api) => api.post('/v1/emails', validEmail())],
      ['about an unknown id', 404, 'key', (api) => api.get(EMAIL)],
      ['about a wrong shape', 400, 'key', (api) => api.post('/v1/emails', { sendat: 1 })],
      ['about a missing scope', 401, 'key', (api) => api.post('/v1/emails', {}, { key: tenant.keys.viewer })],
      ['about a missing key', 401, 'failed-authentications', (api) => api.get(EMAIL, { key: null })],
      [
        'about an unknown key',
        401,
        'failed-authentications',
        (api) => api.get(EMAIL, { key: newApiKeySecret() }),
      ],
      ['about bad JSON', 400, 'key', (api) => api.post('/v1/emails', '{')],
      [
        'about another type',
        415,
        'key',
        (api) => api.post('/v1/emails', 'x', { headers: { 'Content-Type': 'text/plain' } }),
      ],
      [
        'about a body that is too large',
        413,
        'failed-authentications',
        raw(
          'POST /v1/emails HTTP/1.1',
          'Host: a',
          'Content-Type: application/json',
          'Content-Length: 99999999',
        ),
      ],
      ['about an unknown path', 404, 'failed-authentications', (api) => api.get('/v1/nothing')],
      [
        'about a wrong method',
        405,
        'failed-authentications',
        (api) => api.request('PUT', '/v1/emails', '{}'),
      ],
      ['that is a page', 200, 'failed-authentications', (api) => api.get('/docs/errors/invalid-payload')],
      ['about health', 200, 'failed-authentications', (api) => api.get('/health/ready')],
      ['to a request without a host', 400, 'failed-authentications', raw('GET / HTTP/1.1')],
      ['to what is no HTTP', 400, 'failed-authentications', raw('hello')],
      ['to CONNECT', 405, 'failed-authentications', raw('CONNECT a:443 HTTP/1.1', 'Host: a')],
    ];

    it.each(cases)('%s', async (_what, status, policy, ask) => {
      const answer = await ask(apiOf(tenant.keys.apiUser), {});
      expect(answer.status).toBe(status);
      const rate = rateIn(answer);
      expect(rate).toMatchObject(
        policy === 'key' ? { policy, quota: 1_000, window: 1 } : { policy, quota: 20, window: 60 },
      );
      expect(rate.remaining).toBeLessThanOrEqual(rate.quota);
      expect(answer.headers.get('retry-after')).toBeNull();
    });
  });
});

describe('failed authentications', () => {
  const AT_ONCE = 20;
  let direct: Stack;
  let proxied: Stack;
  beforeAll(async () => {
    const env = { FAILED_AUTHENTICATIONS_PER_MINUTE: '20' };
    [direct, proxied] = await Promise.all([
      Stack.start({ gateways: 2, sends: false, env }),
      Stack.start({ sends: false, env: { ...env, TRUSTED_PROXIES: '127.0.0.0/8, ::1, 10.0.0.0/8' } }),
    ]);
  });
  afterAll(async () => {
    await direct?.close();
    await proxied?.close();
  });

  const wrong = (): string => newApiKeySecret();
  /** Fails to authenticate, as the client that `X-Forwarded-For` names. */
  const fail = (stack: Stack, forwardedFor?: string, gateway = 0): Promise<Answer> =>
    stack
      .api(gateway)
      .get(EMAIL, { key: wrong(), headers: forwardedFor ? { 'X-Forwarded-For': forwardedFor } : {} });
  /** The 429 of a client beyond its limit; one more failure may have been allowed meanwhile. */
  const refusal = async (ask: () => Promise<Answer>): Promise<Answer> => {
    const { answers } = await flood(4, ask);
    const refused = answers.find(({ status }) => status === 429);
    if (refused === undefined) throw new Error(`not refused: ${JSON.stringify(statuses(answers))}`);
    return refused;
  };
  const expectFlooded = (stack: Stack, { answers, seconds }: Awaited<ReturnType<typeof flood>>): void => {
    const { 401: failed = 0, 429: refused = 0 } = statuses(answers);
    expect(failed + refused).toBe(answers.length);
    expect(failed).toBeGreaterThanOrEqual(AT_ONCE);
    expect(failed).toBeLessThanOrEqual((AT_ONCE + 1 + seconds / 3) * bucketsOf(stack));
    expect(refused).toBeGreaterThan(0);
  };

  it('R1, G5: are refused with 429 on all gateways, whatever is forged; a valid key is still served', async () => {
    expectFlooded(direct, await flood(120, (index) => fail(direct, `198.51.100.${index}`, index % 2)));
    const { answers } = await flood(40, (index) => direct.api(index % 2).get(EMAIL));
    expect(statuses(answers)).toEqual({ 404: 40 });
    const refused = await refusal(() => direct.api().get(EMAIL, { key: null }));
    expect(refused.body).toStrictEqual({
      statusCode: 429,
      error: 'Too Many Requests',
      message: expect.stringMatching(
        /^Too many requests without a valid API key came from this address; wait [123] seconds?, or send a valid key$/,
      ),
    });
    const rate = rateIn(refused);
    expect(rate).toMatchObject({ policy: 'failed-authentications', quota: 20, window: 60, remaining: 0 });
    expect(refused.headers.get('retry-after')).toBe(String(rate.next));
    expect(rateIn(await direct.api().get('/v1/nothing')).remaining).toBeLessThanOrEqual(1);
    expect((await direct.send()).status).toBe(200);
  });

  it('R1: are counted by the address that a trusted proxy names, not by what was forged before it', async () => {
    expectFlooded(
      proxied,
      await flood(60, (index) => fail(proxied, `1.1.1.${index}, 198.51.100.1, 10.0.0.7`)),
    );
    expect((await fail(proxied, '198.51.100.2')).status).toBe(401);
    await refusal(() => fail(proxied, '198.51.100.1'));
  });

  const failWith = (...lines: string[]): Promise<Answer> =>
    proxied.api().raw([`GET ${EMAIL} HTTP/1.1`, 'Host: a', 'Connection: close', ...lines]);

  it('R1: are counted for the proxy where its header is malformed', async () => {
    const malformed = ['unknown', '203.0.113.300', '203.0.113.1, ', '_hidden'];
    const ask = (index: number): Promise<Answer> => failWith(`X-Forwarded-For: ${malformed[index % 4]!}`);
    expectFlooded(proxied, await flood(60, ask));
    expect((await fail(proxied, '203.0.113.1')).status).toBe(401);
    await refusal(() => fail(proxied));
  });

  it('R1: are counted by the last of several headers, without a port', async () => {
    const ask = (index: number): Promise<Answer> =>
      failWith(`X-Forwarded-For: 192.0.2.${index}`, `X-Forwarded-For: 203.0.113.2:${4_000 + index}`);
    expectFlooded(proxied, await flood(60, ask));
    expect((await fail(proxied, '192.0.2.1')).status).toBe(401);
    await refusal(() => fail(proxied, '203.0.113.2'));
  });

  it('R1: are counted by the /64 of an IPv6 address', async () => {
    expectFlooded(proxied, await flood(60, (index) => fail(proxied, `2001:db8:1:2::${index.toString(16)}`)));
    await refusal(() => fail(proxied, '2001:db8:1:2:ffff::'));
    expect((await fail(proxied, '2001:db8:1:3::')).status).toBe(401);
  });

  it('R1: leave no address in a log line', () => {
    expect(direct.logs + proxied.logs).toContain('"status":429');
    expect(direct.logs + proxied.logs).not.toMatch(/198\.51\.100|2001:db8|203\.0\.113/);
  });
});
