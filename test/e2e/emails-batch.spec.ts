import { describe, expect, it } from '@jest/globals';
import { randomUUID } from 'node:crypto';
import { type AcceptedEmail, type Answer, isReplay, partIn, type RequestOptions } from './api.ts';
import { newRecipient, validEmail, Stack } from './stack.ts';
import { validTemplate } from './templates.ts';

interface FailedItem {
  readonly index: number;
  readonly to: string | null;
  readonly error: Record<string, unknown> & { statusCode: number; message: string };
}

interface BatchResult {
  readonly successful: AcceptedEmail[];
  readonly failed: FailedItem[];
}

const stack = Stack.forTests({ gateways: 2 });

const STRANGER = { from: 'a@elsewhere.example' };

function post(emails: unknown, options: RequestOptions = {}, gateway = 0): Promise<Answer> {
  return stack.api(gateway).post('/v1/emails/batch', { emails }, options);
}

function resultOf(answer: Answer): BatchResult {
  return partIn(answer, 'emails');
}

const many = (count: number): object[] => Array.from({ length: count }, () => validEmail());

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

  it('S12: items are validated separately; a failed one has its index, its recipient and the error that it would get alone', async () => {
    const [first, last] = [validEmail(), validEmail()];
    const bad = [
      { ...validEmail(), subject: undefined },
      { ...validEmail(), ...STRANGER },
      { ...validEmail(), sendAt: '2020-01-01T00:00:00Z' },
      { template: 'no such one', to: 'ada@receiver.example' },
      'no object',
      { ...validEmail(), to: 7 },
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

  it('S8: an item with a future `sendAt` is SCHEDULED', async () => {
    const sendAt = new Date(Date.now() + 3_600_000).toISOString();
    const { successful } = resultOf(await post([{ ...validEmail(), sendAt }, validEmail()]));
    expect(successful.map(({ status }) => status)).toEqual(['SCHEDULED', 'SENT']);
  });

  it('S11: a repeated item is answered as the first time, in one batch, in the next one and alone', async () => {
    const item = { ...validEmail(), idempotencyKey: randomUUID() };
    const first = resultOf(await post([item, validEmail(), item]));
    expect(first.successful[2]).toEqual(first.successful[0]);
    const second = resultOf(await post([validEmail(), item], {}, 1));
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
        { ...validEmail(), idempotencyKey },
        { ...validEmail(), idempotencyKey },
      ]),
    );
    expect(successful).toHaveLength(1);
    expect(failed).toEqual([
      expect.objectContaining({ index: 1, error: expect.objectContaining({ statusCode: 409 }) }),
    ]);
  });

  it('S11, G5: a key of an earlier item is reported before errors of time, sender, template and variables', async () => {
    const first = { ...validEmail(), idempotencyKey: randomUUID() };
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

  it('S11: a refused item does not use its key: another payload with it in the same batch is validated', async () => {
    const idempotencyKey = randomUUID();
    const sound = { ...validEmail(), idempotencyKey };
    const [stranger, late] = [
      { ...sound, ...STRANGER },
      { ...sound, sendAt: '2020-01-01T00:00:00Z' },
    ];
    const { successful, failed } = resultOf(await post([stranger, stranger, late, sound, sound]));
    expect(failed.map(({ index, error }) => [index, error.statusCode])).toEqual([
      [0, 400],
      [1, 400],
      [2, 400],
    ]);
    expect(successful).toHaveLength(2);
    expect(successful[1]).toEqual(successful[0]);
  });

  it('S11: the header covers the whole call: the answer is repeated byte for byte, and nothing is sent', async () => {
    const key = { headers: { 'Idempotency-Key': randomUUID() } };
    const emails = [validEmail(), { ...validEmail(), ...STRANGER }, { nonsense: true }];
    const first = await post(emails, key);
    const again = await post(emails, key, 1);
    expect([first.status, again.status]).toEqual([200, 200]);
    expect([isReplay(first), isReplay(again)]).toEqual([false, true]);
    expect(again.text).toBe(first.text);
    await stack.onlyMailTo((emails[0] as { to: string }).to);
  });

  it('S11: one that is sent twenty times concurrently through two gateways is accepted once', async () => {
    const key = { headers: { 'Idempotency-Key': randomUUID() } };
    const emails = many(20) as { to: string }[];
    const answers = await Promise.all(Array.from({ length: 20 }, (_, n) => post(emails, key, n % 2)));
    expect(new Set(answers.map(({ text }) => text)).size).toBe(1);
    expect(answers.filter((answer) => !isReplay(answer))).toHaveLength(1);
    for (const { to } of emails) await stack.onlyMailTo(to);
  });

  it('S11, G5: an item with the key of its own call fails, whatever else is wrong with it, and the error says what to change', async () => {
    const idempotencyKey = randomUUID();
    const keyed = { ...validEmail(), idempotencyKey };
    const emails = [
      keyed,
      { ...keyed, sendAt: '2020-01-01T00:00:00Z' },
      { ...keyed, ...STRANGER },
      validEmail(),
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

  it('S12, S13: when the monthly limit is reached, the first items are accepted and the others fail', async () => {
    const small = await stack.createTenant('small', 3);
    const { successful, failed } = resultOf(await post(many(5), { key: small.keys.apiUser }));
    expect(successful).toHaveLength(3);
    expect(failed.map(({ index, error }) => [index, error.statusCode])).toEqual([
      [3, 403],
      [4, 403],
    ]);
  });

  it('S12, S13: an item after a refused one with the same key keeps its position when the limit is reached', async () => {
    const { keys } = await stack.createTenant('one left', 1);
    const keyed = { ...validEmail(), idempotencyKey: randomUUID() };
    const emails = [{ ...keyed, ...STRANGER }, keyed, validEmail()];
    const { successful, failed } = resultOf(await post(emails, { key: keys.apiUser }));
    expect(successful.map(({ to }) => to)).toEqual([keyed.to]);
    expect(failed.map(({ index, error }) => [index, error.statusCode])).toEqual([
      [0, 400],
      [2, 403],
    ]);
  });

  it('S12, G11: an item with a string or number that cannot be stored fails alone, and the call can be repeated', async () => {
    const [first, last] = [validEmail(), validEmail()];
    const sound = JSON.stringify(validEmail()).slice(0, -1);
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

  it('S13: concurrent batches on two gateways are accepted exactly up to the limit', async () => {
    const tenant = await stack.createTenant('exact', 100);
    const answers = await Promise.all(
      Array.from({ length: 12 }, (_, n) => post(many(17), { key: tenant.keys.apiUser }, n % 2)),
    );
    const accepted = answers.flatMap((answer) => (answer.status === 200 ? resultOf(answer).successful : []));
    expect(accepted).toHaveLength(100);
    expect(answers.every(({ status }) => status === 200 || status === 403)).toBe(true);
  });

  it('S14: contactProperties of several items for one contact are merged in order', async () => {
    const to = newRecipient();
    const item = (contactProperties: object): object => ({ ...validEmail(), to, contactProperties });
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

describe('403', () => {
  it('S12, S13: a whole batch is refused if the monthly limit is reached already, and its key is not used', async () => {
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

  it('S11, S12, S13: so is each of any number of equal concurrent batches with one key', async () => {
    const full = await stack.createTenant('full at once', 1);
    const options = { key: full.keys.apiUser, headers: { 'Idempotency-Key': randomUUID() } };
    expect(resultOf(await post(many(1), { key: full.keys.apiUser })).successful).toHaveLength(1);
    const emails = many(2);
    const crowd = Array.from({ length: 100 }, (_, n) => post(emails, options, n % 2));
    expect(new Set((await Promise.all(crowd)).map(({ status }) => status))).toEqual(new Set([403]));
  });

  it('S12, S13, G5: this applies to a batch with at least one otherwise valid item, and to no other', async () => {
    const full = await stack.createTenant('full of faults', 1);
    const asFull = { key: full.keys.apiUser };
    expect(resultOf(await post(many(1), asFull)).successful).toHaveLength(1);
    const unsound = [
      { ...validEmail(), subject: undefined },
      { ...validEmail(), sendAt: 'never' },
      { ...validEmail(), ...STRANGER },
    ];
    expect((await post([...unsound, validEmail()], asFull)).status).toBe(403);
    const { successful, failed } = resultOf(await post(unsound, asFull));
    expect(successful).toEqual([]);
    expect(failed.map(({ error }) => error.statusCode)).toEqual([400, 400, 400]);
  });

  it('S12, S11: this also applies to a batch with an item whose key is in use for something else', async () => {
    const full = await stack.createTenant('full of keys', 1);
    const [used, whole] = [randomUUID(), randomUUID()];
    const key = full.keys.apiUser;
    expect(
      resultOf(await post([{ ...validEmail(), idempotencyKey: used }], { key })).successful,
    ).toHaveLength(1);
    const refused = await Promise.all(
      [used, whole].map((idempotencyKey) =>
        post([{ ...validEmail(), idempotencyKey }, validEmail()], {
          key,
          headers: { 'Idempotency-Key': whole },
        }),
      ),
    );
    expect(refused.map(({ status }) => status)).toEqual([403, 403]);
  });

  it('S12, S11, G5: a batch with an item that was accepted before gets that answer again, whatever would be refused now', async () => {
    const full = await stack.createTenant('full of answers', 1);
    const api = stack.apiAs(full.keys.editor);
    const { body } = await api.post('/v1/templates', validTemplate({ defaults: { firstName: 'friend' } }));
    const { id, name } = body['template'] as { id: string; name: string };
    const item = { template: name, to: newRecipient(), idempotencyKey: randomUUID() };
    const [first] = resultOf(await api.post('/v1/emails/batch', { emails: [item] })).successful;
    const again = async (): Promise<void> => {
      const emails = [item, validEmail()];
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
    expect(other.body).toMatchObject({
      message:
        'The idempotency key was used before with another payload; repeat that payload, or use a new key',
    });
    expect(isReplay(other)).toBe(false);
  });
});

describe('413', () => {
  it('G11: a body may have 50 MiB, and no more', async () => {
    const html = 'x'.repeat(4 * 1024 * 1024);
    const { successful } = resultOf(
      await post(Array.from({ length: 12 }, () => ({ ...validEmail(), html }))),
    );
    expect(successful).toHaveLength(12);
    const answer = await post(Array.from({ length: 14 }, () => ({ ...validEmail(), html })));
    expect(answer.status).toBe(413);
    expect(answer.body['message']).toMatch(/ more than the 50 MiB \(52,428,800 bytes\) allowed here/);
  });
});
