import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from '@jest/globals';
import { emailIn, isReplay, type RequestOptions, statusesOf } from './api.ts';
import { validEmail, Stack, until } from './stack.ts';
import { DAY_MS, fromNow, MINUTE_MS } from './times.ts';

const IN_THE_PAST_AT_MOST_MS = 5 * MINUTE_MS;

const stack = Stack.forTests({ gateways: 2 });

const emailsTo = (to: string): Promise<number> =>
  stack.count('SELECT count(*)::int FROM emails WHERE to_address = $1', [to]);

describe('POST /v1/emails: idempotency', () => {
  it.each([
    ['field', (key: string) => [{ idempotencyKey: key }, {}]],
    ['header', (key: string) => [{}, { headers: { 'Idempotency-Key': key } }]],
    ['both', (key: string) => [{ idempotencyKey: key }, { headers: { 'Idempotency-Key': key } }]],
  ] as [string, (key: string) => [object, RequestOptions]][])(
    'S11: answers a repeated call with the first answer, byte for byte, by %s',
    async (_by, withKey) => {
      const [change, options] = withKey(randomUUID());
      const email = { ...validEmail(), ...change, groupBy: 'ü' };
      const first = await stack.send(email, options);
      const again = await stack.send(email, options);
      expect([isReplay(first), isReplay(again)]).toEqual([false, true]);
      expect(again.text).toBe(first.text);
      await stack.onlyMailTo(emailIn(first).to);
      expect(await emailsTo(email.to)).toBe(1);
    },
  );

  it('S11: treats the field and the header as the same key', async () => {
    const [email, key] = [validEmail(), randomUUID()];
    const first = await stack.send({ ...email, idempotencyKey: key });
    const again = await stack.send(email, { headers: { 'Idempotency-Key': key } });
    expect(isReplay(again)).toBe(true);
    expect(again.text).toBe(first.text);
  });

  it('S11: compares payloads as JSON, not as bytes', async () => {
    const [email, key] = [validEmail(), randomUUID()];
    const first = await stack.send({
      ...email,
      idempotencyKey: key,
      contactProperties: { a: 1, b: '\u00e9' },
    });
    const { html, ...rest } = email;
    const text = JSON.stringify({
      contactProperties: { b: 'é', a: 1.0 },
      idempotencyKey: key,
      html,
      ...rest,
    });
    const again = await stack
      .api()
      .post('/v1/emails', text.replaceAll('é', '\\u00e9').replaceAll(':', ' :\n'));
    expect(isReplay(again)).toBe(true);
    expect(again.text).toBe(first.text);
  });

  it('S11: refuses a field and a header that differ', async () => {
    const answer = await stack.send({ idempotencyKey: 'one' }, { headers: { 'Idempotency-Key': 'two' } });
    expect(answer.status).toBe(400);
    expect(answer.body['message']).toContain('differ');
  });

  it('S11: refuses another payload under a used key, and keeps the first answer', async () => {
    const [email, key] = [validEmail(), randomUUID()];
    const first = await stack.send({ ...email, idempotencyKey: key });
    for (const change of [{ subject: 'Other' }, { groupBy: 'g' }, { from: 'nobody@unverified.example' }]) {
      const other = await stack.send({ ...email, ...change, idempotencyKey: key });
      expect(other.body).toMatchObject({ statusCode: 409, error: 'Conflict' });
      expect(isReplay(other)).toBe(false);
    }
    expect((await stack.send({ ...email, idempotencyKey: key })).text).toBe(first.text);
    expect(await emailsTo(email.to)).toBe(1);
  });

  it('S11: does not use the key of a refused call', async () => {
    const key = randomUUID();
    const refused = [
      { from: 'nobody@unverified.example' },
      { subject: '' },
      { sendAt: fromNow(91 * DAY_MS) },
      { template: 'none' },
    ];
    for (const change of refused) {
      expect((await stack.send({ ...change, idempotencyKey: key })).status).toBe(400);
    }
    const accepted = await stack.send({ idempotencyKey: key });
    expect(accepted.status).toBe(200);
    expect(isReplay(accepted)).toBe(false);
  });

  it('S11: keeps the keys of workspaces separate', async () => {
    const [email, idempotencyKey] = [validEmail(), randomUUID()];
    const other = await stack.createTenant('Neighbour');
    const first = await stack.send({ ...email, idempotencyKey });
    const second = await stack.send({ ...email, idempotencyKey }, { key: other.keys.apiUser });
    expect([isReplay(first), isReplay(second)]).toEqual([false, false]);
    expect(await emailsTo(email.to)).toBe(2);
  });

  it('S11: creates one email for fifty concurrent calls on two gateways', async () => {
    const email = { ...validEmail(), idempotencyKey: randomUUID() };
    const answers = await Promise.all(
      Array.from({ length: 50 }, (_, n) => stack.api(n % 2).post('/v1/emails', email)),
    );
    expect(new Set(statusesOf(answers))).toEqual(new Set([200]));
    expect(new Set(answers.map((answer) => answer.text)).size).toBe(1);
    expect(answers.filter(isReplay)).toHaveLength(49);
    await stack.onlyMailTo(email.to);
    expect(await emailsTo(email.to)).toBe(1);
  });

  it('S11: gives a hundred concurrent calls on one gateway the same answer', async () => {
    const email = { ...validEmail(), idempotencyKey: randomUUID() };
    const answers = await Promise.all(
      Array.from({ length: 100 }, () => stack.api().post('/v1/emails', email)),
    );
    expect(new Set(statusesOf(answers))).toEqual(new Set([200]));
    expect(answers.filter(isReplay)).toHaveLength(99);
  });

  it('S11: refuses each of a hundred concurrent calls for its own fault', async () => {
    const email = { ...validEmail(), from: 'nobody@unverified.example', idempotencyKey: randomUUID() };
    const answers = await Promise.all(
      Array.from({ length: 100 }, (_, n) => stack.api(n % 2).post('/v1/emails', email)),
    );
    expect(new Set(statusesOf(answers))).toEqual(new Set([400]));
    expect(await emailsTo(email.to)).toBe(0);
  });

  it('S11: accepts one of two payloads that are sent concurrently with one key, and refuses the other', async () => {
    const idempotencyKey = randomUUID();
    const emails = [validEmail(), validEmail()];
    const answers = await Promise.all(
      emails.map((email, n) => stack.api(n).post('/v1/emails', { ...email, idempotencyKey })),
    );
    expect(statusesOf(answers).sort()).toEqual([200, 409]);
  });

  it('G5: answers a replay even when its `sendAt` has become impossible', async () => {
    const leftMs = 5_000;
    const idempotencyKey = randomUUID();
    const sendUntimely = async () => {
      const email = { ...validEmail(), sendAt: fromNow(leftMs - IN_THE_PAST_AT_MOST_MS) };
      return { email, first: await stack.send({ ...email, idempotencyKey }) };
    };
    let { email, first } = await sendUntimely();
    // If the machine was suspended until it was impossible: a refused call does not use its key.
    while (first.status === 400) ({ email, first } = await sendUntimely());
    expect(first.status).toBe(200);
    await sleep(leftMs);
    await until(async () => (await stack.send(email)).status === 400, '`sendAt` is impossible');
    const again = await stack.send({ ...email, idempotencyKey });
    expect(again.text).toBe(first.text);
    expect(isReplay(again)).toBe(true);
  });
});
