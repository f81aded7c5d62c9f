import { describe, expect, it } from '@jest/globals';
import { type Answer, emailIn } from './api.ts';
import { Stack, type Tenant, validEmail } from './stack.ts';
import { avoidEndOfMonth, DAY_MS, fromNow } from './times.ts';

const LIMIT = 3;

const stack = Stack.forTests(async () => {
  await avoidEndOfMonth();
  return { sends: false, env: { MONTHLY_EMAIL_LIMIT: '5' } };
});

const usageOf = async ({ keys }: Tenant): Promise<Record<string, unknown>> => {
  const { status, body } = await stack.api().get('/v1/usage', { key: keys.viewer });
  expect(status).toBe(200);
  return body['usage'] as Record<string, unknown>;
};

const send = ({ keys }: Tenant, change: object = {}): Promise<Answer> =>
  stack.api().post('/v1/emails', { ...validEmail(), ...change }, { key: keys.apiUser });

describe('GET /v1/usage', () => {
  it('S13: says what the limit counts: neither refused nor cancelled emails, and none of another month or workspace', async () => {
    const [tenant, other] = [await stack.createTenant('Acme', LIMIT), await stack.createTenant('Globex')];
    const now = new Date();
    const month = now.toISOString().slice(0, 7);
    const resetsAt = new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + 1)).toISOString();
    expect(await usageOf(tenant)).toStrictEqual({ month, used: 0, limit: LIMIT, remaining: LIMIT, resetsAt });
    await stack.database.pool.query(
      `INSERT INTO usage (workspace_id, month, accepted, granted)
       SELECT id, date_trunc('month', now() AT TIME ZONE 'UTC') - interval '1 month', 2, 2 FROM workspaces WHERE name = 'Acme'`,
    );
    await send(tenant);
    await send(tenant, { from: 'a@unverified.example' });
    const { id } = emailIn(await send(tenant, { sendAt: fromNow(DAY_MS) }));
    expect(await usageOf(tenant)).toMatchObject({ used: 2, remaining: 1 });
    await stack.api().post(`/v1/emails/${id}/cancel`, {}, { key: tenant.keys.apiUser });
    expect(await usageOf(tenant)).toMatchObject({ used: 1, remaining: 2 });
    expect(await usageOf(other)).toMatchObject({ used: 0, limit: 5 });
  });

  it('S13: agrees with the refusal, also after the limit was lowered', async () => {
    const tenant = await stack.createTenant('Initech', LIMIT);
    for (let n = 0; n < LIMIT; n += 1) await send(tenant);
    await stack.database.pool.query(`UPDATE workspaces SET monthly_email_limit = 2 WHERE name = 'Initech'`);
    const usage = await usageOf(tenant);
    expect(usage).toMatchObject({ used: 3, limit: 2, remaining: 0 });
    expect((await send(tenant)).body['message']).toBe(
      `The monthly sending limit of 2 emails is reached (3 used); it resets at ${usage['resetsAt'] as string}`,
    );
  });

  it('S13: shows no limit where there is none', async () => {
    const tenant = await stack.createTenant('Umbrella', 0);
    await send(tenant);
    expect(await usageOf(tenant)).toMatchObject({ used: 1, limit: null, remaining: null });
  });
});
