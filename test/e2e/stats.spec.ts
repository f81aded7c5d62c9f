import { beforeAll, describe, expect, it } from '@jest/globals';
import { type Answer, emailIn } from './api.ts';
import { validEmail, Stack, type Tenant } from './stack.ts';
import { DAY_MS, fromNow } from './times.ts';

const stack = Stack.forTests({ sends: false });
let acme: Tenant;
beforeAll(async () => {
  acme = await stack.createTenant('Acme');
});

function ask(query: Record<string, string>, { keys }: Tenant = acme): Promise<Answer> {
  return stack.api().get(`/v1/stats?${new URLSearchParams(query).toString()}`, { key: keys.viewer });
}

const dayOf = (ms: number): string => new Date(ms).toISOString().slice(0, 10);
const NONE = {
  accepted: 0,
  scheduled: 0,
  sent: 0,
  delivered: 0,
  bounced: 0,
  opened: 0,
  clicked: 0,
  complained: 0,
  failed: 0,
  suppressed: 0,
  cancelled: 0,
};

describe('GET /v1/stats', () => {
  it('E18, K2: counts emails by day and status, all of them or those of a group, and no others', async () => {
    // With the days around, because midnight may pass during the test.
    const days = { from: dayOf(Date.now() - DAY_MS), to: dayOf(Date.now() + DAY_MS) };
    const changes = [
      {},
      { groupBy: 'a' },
      { groupBy: 'a', sendAt: fromNow(DAY_MS) },
      { sendAt: fromNow(DAY_MS) },
    ];
    const sent = [];
    for (const change of changes) {
      const body = { ...validEmail(), ...change };
      sent.push(emailIn(await stack.api().post('/v1/emails', body, { key: acme.keys.apiUser })));
    }
    await stack.api().post(`/v1/emails/${sent[3]!.id}/cancel`, {}, { key: acme.keys.apiUser });
    const all = (await ask(days)).body['stats'];
    const total = { ...NONE, accepted: 4, sent: 2, scheduled: 1, cancelled: 1 };
    expect(all).toMatchObject({ ...days, groupBy: null, total });
    expect((all as { days: object[] }).days).toHaveLength(3);
    expect((all as { days: object[] }).days[0]).toEqual({ day: days.from, ...NONE });
    expect((await ask({ ...days, groupBy: 'a' })).body['stats']).toMatchObject({
      groupBy: 'a',
      total: { ...NONE, accepted: 2, sent: 1, scheduled: 1 },
    });
    const other = await stack.createTenant('Globex');
    expect((await ask(days, other)).body['stats']).toMatchObject({ total: NONE });
  });

  it('E18: counts the thirty days up to today by default', async () => {
    const { days } = (await ask({})).body['stats'] as { days: { day: string }[] };
    expect(days).toHaveLength(30);
    expect([dayOf(Date.now()), dayOf(Date.now() - 60_000)]).toContain(days.at(-1)!.day);
  });

  it('E18: counts up to 92 days, long ago too', async () => {
    const { days } = (await ask({ from: '1970-01-01', to: '1970-04-02' })).body['stats'] as {
      days: object[];
    };
    expect(days).toHaveLength(92);
  });

  it.each([
    [{ to: '9999-12-31' }, 30],
    [{ from: '9999-12-31', to: '9999-12-31' }, 1],
    [{ to: '1970-01-05' }, 5],
  ])('E18: counts nothing on days without emails, for %j', async (query: Record<string, string>, count) => {
    const { days, total } = (await ask(query)).body['stats'] as { days: object[]; total: object };
    expect([days.length, total]).toEqual([count, NONE]);
  });

  it.each<[Record<string, string>, string]>([
    [{ from: '2030-02-01', to: '2030-01-31' }, '`from` is later than `to`'],
    [{ from: '2999-01-01' }, '`from` is later than today; give an earlier day, or `to` as well'],
    [{ from: '2029-01-31', to: '2030-01-31' }, '`from` to `to` is 366 days; at most 92 are allowed'],
    [{ from: '2030-01-31T00:00:00Z' }, '`from` is not a day; give one as in `2030-01-31`'],
    [{ to: '2030-02-30' }, '`to` has the date 2030-02-30, which does not exist'],
    [{ from: '1960-01-01', to: '1970-01-05' }, '`from` is 1960-01-01; give a day from 1970-01-01 on'],
    [{ to: '0001-01-01' }, '`to` is 0001-01-01; give a day from 1970-01-01 on'],
    [{ groupBy: '' }, '`groupBy` is empty'],
    [{ group: 'a' }, '`group` is not a known field'],
  ])('E18, G3, G4: is 400 for %j', async (query, message) => {
    const answer = await ask(query);
    expect([answer.status, answer.body['message']]).toEqual([400, expect.stringContaining(message)]);
  });
});
