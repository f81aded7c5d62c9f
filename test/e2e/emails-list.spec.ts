import { beforeAll, describe, expect, it } from '@jest/globals';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Page } from '@posthorn/domain';
import { type AcceptedEmail, type Answer, emailIn, partIn, type ShownEmail } from './api.ts';
import { newRecipient, validEmail, Stack, type Tenant } from './stack.ts';
import { DAY_MS, fromNow } from './times.ts';

type ListedEmail = Omit<ShownEmail, 'timeline'>;

const stack = Stack.forTests({ sends: false });
let acme: Tenant;
beforeAll(() => {
  acme = stack.tenant;
});

function ask(query: Record<string, string>, tenant = acme): Promise<Answer> {
  return stack.api().get(`/v1/emails?${new URLSearchParams(query).toString()}`, { key: tenant.keys.apiUser });
}

async function list(query: Record<string, string>, tenant = acme): Promise<Page<ListedEmail>> {
  return partIn(await ask(query, tenant), 'emails');
}

async function sendTo(tenant: Tenant, change: object = {}): Promise<AcceptedEmail> {
  return emailIn(
    await stack.api().post('/v1/emails', { ...validEmail(), ...change }, { key: tenant.keys.apiUser }),
  );
}

/** The gateway's estimate of the database's time can be wrong by half of the round trip. */
const APART_MS = 150;

/** Sends one email after the other, so that each has a different time. */
async function sendInTurn(tenant: Tenant, changes: readonly object[]): Promise<AcceptedEmail[]> {
  const sent: AcceptedEmail[] = [];
  for (const change of changes) {
    sent.push(await sendTo(tenant, change));
    await sleep(APART_MS);
  }
  return sent;
}

const idsOf = (emails: readonly { readonly id: string }[]): string[] => emails.map(({ id }) => id);

describe('GET /v1/emails: 200', () => {
  it('E13, S18, F4: shows the emails of the workspace with their times, newest first', async () => {
    const globex = await stack.createTenant('Globex');
    const sendAt = fromNow(DAY_MS);
    const [first, second] = await sendInTurn(globex, [{ groupBy: 'summer' }, { sendAt }]);
    const { items, ...rest } = await list({}, globex);
    expect(rest).toEqual({ hasMore: false, startAt: null });
    const time = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
    expect(items).toStrictEqual([
      { ...second, createdAt: time, sendAt, sentAt: null },
      { ...first, createdAt: time, sendAt: null, sentAt: null },
    ]);
    expect(items[0]).toEqual(
      (({ timeline: _timeline, engagement: _engagement, ...shown }) => shown)(
        emailIn<ShownEmail>(await stack.api().get(`/v1/emails/${second!.id}`, { key: globex.keys.viewer })),
      ),
    );
  });

  it.each<[string, object, Record<string, string>]>([
    ['to', { to: 'Ada <Ada.L@BÜCHER.example>' }, { to: 'Ada.L@bücher.EXAMPLE' }],
    ['groupBy', { groupBy: 'a b/ä&c' }, { groupBy: 'a b/ä&c' }],
    ['status', { sendAt: fromNow(DAY_MS) }, { status: 'SCHEDULED' }],
    [
      'several',
      { groupBy: 'x', sendAt: fromNow(DAY_MS) },
      { groupBy: 'x', status: 'SCHEDULED', createdAfter: '2020-01-01' },
    ],
  ])('S18: lists by %s', async (name, change, query) => {
    const globex = await stack.createTenant(`By ${name}`);
    const [, wanted] = await sendInTurn(globex, [{ groupBy: 'a b' }, change, { to: 'ada.l@bücher.example' }]);
    expect(idsOf((await list(query, globex)).items)).toEqual([wanted!.id]);
  });

  it('S18: lists by time, from the first (inclusive) to the second (exclusive)', async () => {
    const globex = await stack.createTenant('By time');
    const [, second, third, fourth] = await sendInTurn(globex, [{}, {}, {}, {}]);
    const createdAtOf = async ({ id }: AcceptedEmail): Promise<string> =>
      emailIn<ShownEmail>(await stack.api().get(`/v1/emails/${id}`, { key: globex.keys.viewer })).createdAt;
    const query = { createdAfter: await createdAtOf(second!), createdBefore: await createdAtOf(fourth!) };
    expect(idsOf((await list(query, globex)).items)).toEqual([third!.id, second!.id]);
    expect((await list({ createdBefore: '1969-12-31' }, globex)).items).toEqual([]);
    const longAgo = { createdAfter: '1960-01-01', createdBefore: '1961-01-01' };
    expect((await list(longAgo, globex)).items).toEqual([]);
    expect((await list({ createdAfter: '9999-12-31T23:59:59.999Z' }, globex)).items).toEqual([]);
    expect(
      (await list({ createdAfter: '0000-01-01', createdBefore: '9999-12-31' }, globex)).items,
    ).toHaveLength(4);
  });

  it('K2, A3: lets a VIEWER list', async () => {
    expect((await stack.api().get('/v1/emails', { key: acme.keys.viewer })).status).toBe(200);
  });

  it('S18, G3: an email of another workspace is in no list', async () => {
    const to = newRecipient();
    await sendTo(acme, { to });
    expect(await list({ to }, await stack.createTenant('Curious'))).toEqual({
      items: [],
      hasMore: false,
      startAt: null,
    });
  });
});

describe('GET /v1/emails: 400', () => {
  it.each<[string, string]>([
    ['status=sent', '`status` is not one of the known values; give one of `SCHEDULED`, `SENT`,'],
    ['to=nobody', '`to` '],
    [
      'to=Ada%20%3Ca@example.com%3E',
      '`to` has angle brackets; give the address alone, such as `ada@example.com`',
    ],
    ['to=a@example.com,b@example.com', '`to` '],
    ['to=a%00@example.com', '`to` '],
    ['groupBy=', '`groupBy` is empty; give at least 1 character, or leave it out'],
    ['groupBy=a%0Ab', '`groupBy` '],
    ['template=', '`template` is empty; give at least 1 character, or leave it out'],
    [
      'createdAfter=yesterday',
      '`createdAfter` is not a time; give a day, as in `2030-01-31`, or a date, a time and an offset',
    ],
    ['createdBefore=2030-02-30', '`createdBefore` has the date 2030-02-30, which does not exist'],
    [
      'createdAfter=2030-01-01&createdBefore=2030-01-01',
      '`createdBefore` is not later than `createdAfter`; give a later time, or leave one out',
    ],
    ['limit=0', '`limit` is 0; give a whole number from 1 to 100'],
    ['limit=101', '`limit` is 101; give a whole number from 1 to 100'],
    ['sort=createdAt', '`sort` '],
    ['startAt=x', '`startAt` is malformed; give back what the last page had in `startAt`, unchanged'],
    ['startAt=2030-01-01T00:00:00.000Z', '`startAt` is malformed'],
    ['state=SENT', '`state` is not a known field; did you mean `status`?'],
    ['to=a@example.com&to=b@example.com', '`to` is given more than once; give it once'],
    ['status=x&limit=x', '; '],
  ])('S18, G3, G4, G10: %s', async (query, message) => {
    const answer = await stack.api().get(`/v1/emails?${query}`);
    expect(answer.status).toBe(400);
    expect(answer.body).toMatchObject({
      statusCode: 400,
      error: 'Bad Request',
      message: expect.stringContaining(message),
    });
  });
});
