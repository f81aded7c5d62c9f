import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { randomUUID } from 'node:crypto';
import type { AcceptedEmail, Answer, RequestOptions } from './api.ts';
import { newRecipient, soundEmail, Stack } from './stack.ts';
import { soundTemplate } from './templates.ts';

interface FailedItem {
  readonly index: number;
  readonly to: string | null;
  readonly error: Record<string, unknown> & { statusCode: number; message: string };
}

interface BatchResult {
  readonly successful: AcceptedEmail[];
  readonly failed: FailedItem[];
}

let stack: Stack;
beforeAll(async () => {
  stack = await Stack.start({ gateways: 2 });
});
afterAll(() => stack.close());

const STRANGER = { from: 'a@elsewhere.example' };

function post(emails: unknown, options: RequestOptions = {}, gateway = 0): Promise<Answer> {
  return stack.api(gateway).post('/v1/emails/batch', { emails }, options);
}

function resultOf(answer: Answer): BatchResult {
  if (answer.status !== 200) throw new Error(`${answer.status}: ${answer.text}`);
  return answer.body['emails'] as BatchResult;
}

const many = (count: number): object[] => Array.from({ length: count }, () => soundEmail());
const isReplay = (answer: Answer): boolean => answer.headers.get('idempotent-replayed') === 'true';
describe('200', () => {
  it('S12, E2, F5: 50 emails are accepted in the order of the array, and each of them arrives once', async () => {
    const emails = many(50) as { to: string }[];
    const { successful, failed } = resultOf(await post(emails));
    expect(failed).toEqual([]);
    expect(successful.map(({ to }) => to)).toEqual(emails.map(({ to }) => to));
    expect(new Set(successful.map(({ id }) => id)).size).toBe(50);
    expect(successful.every(({ status, type }) => status === 'SENT' && type === 'raw')).toBe(true);
    await stack.settled();
    for (const { to } of emails) expect(stack.mailsTo(to)).toHaveLength(1);
  });

  it('S12: items are judged one by one; a failed one has its index, its recipient and the error it would have alone', async () => {
    const [first, last] = [soundEmail(), soundEmail()];
    const bad = [
      { ...soundEmail(), subject: undefined },
      { ...soundEmail(), ...STRANGER },
      { ...soundEmail(), sendAt: '2020-01-01T00:00:00Z' },
      { template: 'no such one', to: 'ada@receiver.example' },
      'no object',
      { ...soundEmail(), to: 7 },
    ];
    const { successful, failed } = resultOf(await post([first, ...bad, last]));
    expect(successful.map(({ to }) => to)).toEqual([first.to, last.to]);
    expect(failed.map(({ index }) => index)).toEqual([1, 2, 3, 4, 5, 6]);
    expect(failed.map(({ to }) => to)).toEqual([
      ...bad.slice(0, 4).map((item) => (item as { to: string }).to),
      null,
      null,
    ]);
    for (const [place, item] of bad.entries()) {
      const alone = await stack.api().post('/v1/emails', item);
      expect(failed[place]!.error.statusCode).toBe(alone.status);
      if (place !== 2 && place !== 4) expect(failed[place]!.error).toEqual(alone.body);
    }
    expect(failed[1]!.error).toMatchObject({ allowedDomains: ['example.com'], allowedEmails: [] });
    expect(failed[1]!.error['docsUrl']).toContain('/docs/errors/unverified-sender');
  });

  it('S8: an item with a time to come is SCHEDULED', async () => {
    const sendAt = new Date(Date.now() + 3_600_000).toISOString();
    const { successful } = resultOf(await post([{ ...soundEmail(), sendAt }, soundEmail()]));
    expect(successful.map(({ status }) => status)).toEqual(['SCHEDULED', 'SENT']);
  });

  it('S11: a repeated item is answered as the first time, in one batch, in the next one and alone', async () => {
    const item = { ...soundEmail(), idempotencyKey: randomUUID() };
    const first = resultOf(await post([item, soundEmail(), item]));
    expect(first.successful[2]).toEqual(first.successful[0]);
    const second = resultOf(await post([soundEmail(), item], {}, 1));
    expect(second.successful[1]).toEqual(first.successful[0]);
    const alone = await stack.api(1).post('/v1/emails', item);
    expect(isReplay(alone)).toBe(true);
    expect(alone.body['email']).toEqual(first.successful[0]);
    await stack.onlyMailTo(item.to);
  });

  it('S11: a key with another payload fails its item, also within one batch', async () => {
    const idempotencyKey = randomUUID();
    const { successful, failed } = resultOf(
      await post([
        { ...soundEmail(), idempotencyKey },
        { ...soundEmail(), idempotencyKey },
      ]),
    );
    expect(successful).toHaveLength(1);
    expect(failed).toEqual([
      expect.objectContaining({ index: 1, error: expect.objectContaining({ statusCode: 409 }) }),
    ]);
  });

  it('S11, G5: a key that an item before it was answered under is told before time, sender, template and variables', async () => {
    const first = { ...soundEmail(), idempotencyKey: randomUUID() };
    const stranger = { ...first, ...STRANGER };
    const others = [
      { ...first, sendAt: '2020-01-01T00:00:00Z' },
      stranger,
      { template: 'no such one', to: first.to, idempotencyKey: first.idempotencyKey },
      { ...first, nonsense: 1 },
    ];
    const { successful, failed } = resultOf(await post([others[0], stranger, first, ...others, first]));
    expect(failed.map(({ index, error }) => [index, error.statusCode])).toEqual([
      [0, 400],
      [1, 400],
      [3, 409],
      [4, 409],
      [5, 409],
      [6, 400],
    ]);
    expect(successful).toHaveLength(2);
    expect(successful[1]).toEqual(successful[0]);
  });

  it('S11: a refused item does not use up its key: another payload under it in the same batch is judged', async () => {
    const idempotencyKey = randomUUID();
    const sound = { ...soundEmail(), idempotencyKey };
    const { successful, failed } = resultOf(
      await post([{ ...sound, ...STRANGER }, { ...sound, ...STRANGER }, sound, sound]),
    );
    expect(failed.map(({ index, error }) => [index, error.statusCode])).toEqual([
      [0, 400],
      [1, 400],
    ]);
    expect(successful).toHaveLength(2);
    expect(successful[1]).toEqual(successful[0]);
  });

  it('S11: the header covers the whole call: the answer comes again byte for byte, and nothing is sent', async () => {
    const key = { headers: { 'Idempotency-Key': randomUUID() } };
    const emails = [soundEmail(), { ...soundEmail(), ...STRANGER }, { nonsense: true }];
    const first = await post(emails, key);
    const again = await post(emails, key, 1);
    expect([first.status, again.status]).toEqual([200, 200]);
    expect([isReplay(first), isReplay(again)]).toEqual([false, true]);
    expect(again.text).toBe(first.text);
    await stack.onlyMailTo((emails[0] as { to: string }).to);
  });

  it('S11: one that is sent twenty times at once on two gateways is accepted once', async () => {
    const key = { headers: { 'Idempotency-Key': randomUUID() } };
    const emails = many(20) as { to: string }[];
    const answers = await Promise.all(Array.from({ length: 20 }, (_, n) => post(emails, key, n % 2)));
    expect(new Set(answers.map(({ text }) => text)).size).toBe(1);
    expect(answers.filter((answer) => !isReplay(answer))).toHaveLength(1);
    for (const { to } of emails) await stack.onlyMailTo(to);
  });

  it('S11, G5: an item under the key of its own call fails, whatever else is wrong with it, and is told what to change', async () => {
    const idempotencyKey = randomUUID();
    const keyed = { ...soundEmail(), idempotencyKey };
    const emails = [
      keyed,
      { ...keyed, sendAt: '2020-01-01T00:00:00Z' },
      { ...keyed, ...STRANGER },
      soundEmail(),
    ];
    const headers = { 'Idempotency-Key': idempotencyKey };
    const { successful, failed } = resultOf(await post(emails, { headers }));
    const message =
      '`idempotencyKey` is also the `Idempotency-Key` header, which is the key of the whole batch; give the item a key of its own, or none';
    expect(failed).toEqual([0, 1, 2].map((index) => ({ index, to: keyed.to, error: failed[index]!.error })));
    expect(failed.map(({ error }) => [error.statusCode, error.message])).toEqual(
      failed.map(() => [409, message]),
    );
    expect(successful).toHaveLength(1);
  });

  it('S12, S13: where the monthly limit runs out, the first items get in and the others fail with that', async () => {
    const small = await stack.createTenant('small', 3);
    const { successful, failed } = resultOf(await post(many(5), { key: small.keys.apiUser }));
    expect(successful).toHaveLength(3);
    expect(failed.map(({ index, error }) => [index, error.statusCode])).toEqual([
      [3, 403],
      [4, 403],
    ]);
  });

  it('S12, S13: an item behind a refused one under the same key keeps its place where the limit runs out', async () => {
    const { keys } = await stack.createTenant('one left', 1);
    const keyed = { ...soundEmail(), idempotencyKey: randomUUID() };
    const emails = [{ ...keyed, ...STRANGER }, keyed, soundEmail()];
    const { successful, failed } = resultOf(await post(emails, { key: keys.apiUser }));
    expect(successful.map(({ to }) => to)).toEqual([keyed.to]);
    expect(failed.map(({ index, error }) => [index, error.statusCode])).toEqual([
      [0, 400],
      [2, 403],
    ]);
  });

  it('S12, G11: an item with a string or number that nothing can hold fails alone, and the call can be repeated', async () => {
    const [first, last] = [soundEmail(), soundEmail()];
    const sound = JSON.stringify(soundEmail()).slice(0, -1);
    const bad: [item: string, says: string][] = [
      [`${sound},"groupBy":"x\\u0000"}`, '`groupBy` has the character U+0000; remove it'],
      [
        `${sound},"contactProperties":{"name":"Ada \\ud83d"}}`,
        '`contactProperties.name` has half of a surrogate pair',
      ],
      [
        `${sound},"contactProperties":{"id":9007199254740993}}`,
        '`contactProperties.id` is a number too large',
      ],
      [`${sound},"contactProperties":{"id":1e999}}`, '`contactProperties.id` is a number too large'],
      [`${sound},"__proto__":{"a":1}}`, 'has the key `__proto__`; remove it'],
      ['{"to":"ada\\u0000@receiver.example"}', '`to` has the character U+0000; remove it'],
      ['"\\u0000"', 'The email is a string; give an object'],
    ];
    const items = [JSON.stringify(first), ...bad.map(([item]) => item), JSON.stringify(last)];
    const body = `{"emails":[${items.join(',')}]}`;
    const headers = { 'Idempotency-Key': 'odd items' };
    const call = (): Promise<Answer> => stack.api().post('/v1/emails/batch', body, { headers });
    const answer = await call();
    const { successful, failed } = resultOf(answer);
    expect(successful.map(({ to }) => to)).toEqual([first.to, last.to]);
    expect(failed.map(({ index }) => index)).toEqual(bad.map((_, place) => place + 1));
    for (const [place, [, says]] of bad.entries()) {
      expect(failed[place]!.error).toMatchObject({ statusCode: 400, message: expect.stringContaining(says) });
    }
    const again = await call();
    expect([again.text, isReplay(again)]).toEqual([answer.text, true]);
  });

  it('S13: batches at once on two gateways get exactly what is left', async () => {
    const tenant = await stack.createTenant('exact', 100);
    const answers = await Promise.all(
      Array.from({ length: 12 }, (_, n) => post(many(17), { key: tenant.keys.apiUser }, n % 2)),
    );
    const accepted = answers.flatMap((answer) => (answer.status === 200 ? resultOf(answer).successful : []));
    expect(accepted).toHaveLength(100);
    expect(answers.every(({ status }) => status === 200 || status === 403)).toBe(true);
  });

  it('S14: contactProperties of several items for one contact are kept in their order', async () => {
    const to = newRecipient();
    const item = (contactProperties: object): object => ({ ...soundEmail(), to, contactProperties });
    resultOf(await post([item({ plan: 'free', seats: 1 }), item({ plan: 'pro' })]));
    const { rows } = await stack.database.pool.query<{ properties: object }>(
      'SELECT properties FROM contacts WHERE email = $1',
      [to],
    );
    expect(rows).toEqual([{ properties: { plan: 'pro', seats: 1 } }]);
  });
});

describe('400', () => {
  it.each<[string, unknown, string]>([
    ['no array', { emails: {} }, '`emails` is an object'],
    ['no items', { emails: [] }, '`emails` is empty'],
    ['51 items', { emails: many(51) }, '`emails` has 51 items, 1 more than the 50'],
    ['nothing', {}, '`emails` is missing'],
    ['an unknown field', { emails: many(1), sendAt: 'now' }, '`sendAt` is not a known field'],
    ['an array', many(1), 'The body must be a JSON object'],
  ])('S12, G4: %s is refused as a whole, and nothing is accepted', async (_what, body, says) => {
    const before = await stack.count('SELECT count(*)::int FROM emails');
    const answer = await stack.api().post('/v1/emails/batch', body);
    expect(answer.status).toBe(400);
    expect(answer.body['message']).toContain(says);
    expect(await stack.count('SELECT count(*)::int FROM emails')).toBe(before);
  });
});

describe('401', () => {
  it('A3, A4, X3: a key without the scope may not send', async () => {
    expect((await post(many(1), { key: stack.tenant.keys.viewer })).status).toBe(401);
    expect((await post(many(1), { key: null })).status).toBe(401);
  });
});

describe('403', () => {
  it('S12, S13: where the monthly limit is reached already the whole is refused, and its key is not used up', async () => {
    const full = await stack.createTenant('full', 1);
    const options = { key: full.keys.apiUser, headers: { 'Idempotency-Key': randomUUID() } };
    expect(resultOf(await post(many(1), { key: full.keys.apiUser })).successful).toHaveLength(1);
    const emails = many(2);
    const refused = await post(emails, options);
    expect(refused.status).toBe(403);
    expect(refused.body['message']).toMatch(/limit of 1 emails is reached \(1 used\)/);
    expect(
      await stack.count('SELECT count(*)::int FROM idempotency_keys WHERE key = $1', [
        options.headers['Idempotency-Key'],
      ]),
    ).toBe(0);
  });

  it('S11, S12, S13: so is each of however many equal ones that come at once under one key', async () => {
    const full = await stack.createTenant('full at once', 1);
    const options = { key: full.keys.apiUser, headers: { 'Idempotency-Key': randomUUID() } };
    expect(resultOf(await post(many(1), { key: full.keys.apiUser })).successful).toHaveLength(1);
    const emails = many(2);
    const crowd = Array.from({ length: 100 }, (_, n) => post(emails, options, n % 2));
    expect(new Set((await Promise.all(crowd)).map(({ status }) => status))).toEqual(new Set([403]));
  });

  it('S12, S13, G5: that goes for a batch of which one item gets as far as the limit, and for no other', async () => {
    const full = await stack.createTenant('full of faults', 1);
    const asFull = { key: full.keys.apiUser };
    expect(resultOf(await post(many(1), asFull)).successful).toHaveLength(1);
    const unsound = [
      { ...soundEmail(), subject: undefined },
      { ...soundEmail(), sendAt: 'never' },
      { ...soundEmail(), ...STRANGER },
    ];
    expect((await post([...unsound, soundEmail()], asFull)).status).toBe(403);
    const { successful, failed } = resultOf(await post(unsound, asFull));
    expect(successful).toEqual([]);
    expect(failed.map(({ error }) => error.statusCode)).toEqual([400, 400, 400]);
  });

  it('S12, S11: that goes for a batch of which an item has a key that stands for something else, too', async () => {
    const full = await stack.createTenant('full of keys', 1);
    const [used, whole] = [randomUUID(), randomUUID()];
    const key = full.keys.apiUser;
    expect(
      resultOf(await post([{ ...soundEmail(), idempotencyKey: used }], { key })).successful,
    ).toHaveLength(1);
    const refused = await Promise.all(
      [used, whole].map((idempotencyKey) =>
        post([{ ...soundEmail(), idempotencyKey }, soundEmail()], {
          key,
          headers: { 'Idempotency-Key': whole },
        }),
      ),
    );
    expect(refused.map(({ status }) => status)).toEqual([403, 403]);
  });

  it('S12, S11, G5: a batch of which one item was accepted before gets that answer again, whatever the item would be told now', async () => {
    const full = await stack.createTenant('full of answers', 1);
    const api = stack.apiAs(full.keys.editor);
    const { body } = await api.post('/v1/templates', soundTemplate({ defaults: { firstName: 'friend' } }));
    const { id, name } = body['template'] as { id: string; name: string };
    const item = { template: name, to: newRecipient(), idempotencyKey: randomUUID() };
    const [first] = resultOf(await api.post('/v1/emails/batch', { emails: [item] })).successful;
    const again = async (): Promise<void> => {
      const emails = [item, soundEmail()];
      const { successful, failed } = resultOf(await api.post('/v1/emails/batch', { emails }));
      expect(successful).toEqual([first]);
      expect(failed.map(({ index, error }) => [index, error.statusCode])).toEqual([[1, 403]]);
    };
    await again();
    expect((await api.request('DELETE', `/v1/templates/${id}`, undefined)).status).toBe(200);
    await again();
  });
});

describe('409', () => {
  it('S11: the header with another payload is refused', async () => {
    const key = { headers: { 'Idempotency-Key': randomUUID() } };
    expect((await post(many(1), key)).status).toBe(200);
    const other = await post(many(1), key);
    expect(other.status).toBe(409);
    expect(isReplay(other)).toBe(false);
  });
});

describe('413', () => {
  it('G11: a body may have 50 MiB, and no more', async () => {
    const html = 'x'.repeat(4 * 1024 * 1024);
    const { successful } = resultOf(
      await post(Array.from({ length: 12 }, () => ({ ...soundEmail(), html }))),
    );
    expect(successful).toHaveLength(12);
    const answer = await post(Array.from({ length: 14 }, () => ({ ...soundEmail(), html })));
    expect(answer.status).toBe(413);
    expect(answer.body['message']).toMatch(
      / more than the 50 MiB \(52,428,800 bytes\) that are possible here/,
    );
  });
});
