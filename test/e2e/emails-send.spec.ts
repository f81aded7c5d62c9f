import { randomUUID } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import { type Answer, Api, emailIn, isReplay, statusesOf } from './api.ts';
import { headerValues } from './mail.ts';
import { newRecipient, validEmail, Stack, type Tenant } from './stack.ts';
import { DAY_MS, fromNow, MINUTE_MS, toSecond } from './times.ts';

const IN_THE_PAST_AT_MOST_MS = 5 * MINUTE_MS;

const stack = Stack.forTests({ gateways: 2 });

describe('POST /v1/emails: 200', () => {
  it('E1, F4, S8, G1: is an Email object with exactly the documented fields', async () => {
    const to = newRecipient();
    const answer = await stack.send({ to: `Ada <${to}>`, from: 'Shop <shop@example.com>', subject: 'Grüße' });
    expect(answer.status).toBe(200);
    expect(answer.headers.get('content-type')).toBe('application/json; charset=utf-8');
    const { id, messageId } = emailIn(answer);
    expect(answer.body).toStrictEqual({
      email: {
        id: expect.stringMatching(/^trs_[0-7][0-9a-hjkmnp-tv-z]{25}$/),
        messageId: `${id.slice('trs_'.length)}@example.com`,
        status: 'SENT',
        to,
        type: 'raw',
        from: 'shop@example.com',
        subject: 'Grüße',
      },
    });
    expect(headerValues(await stack.onlyMailTo(to), 'Message-ID')).toEqual([`<${messageId}>`]);
  });

  it('F4: repeats `groupBy` when it was given', async () => {
    expect(emailIn(await stack.send({ groupBy: 'summer' }))).toMatchObject({ groupBy: 'summer' });
  });

  it('S9: has a different Message-ID for each email', async () => {
    const sent = await Promise.all(Array.from({ length: 20 }, () => stack.send().then(emailIn)));
    expect(new Set(sent.map((email) => email.messageId)).size).toBe(20);
  });

  it('F1, F3: accepts every optional field', async () => {
    const everything = {
      fromName: 'Shop',
      text: 'Hi',
      previewText: 'Look',
      replyTo: 'help@example.com',
      groupBy: 'g',
      contactProperties: { firstName: 'Ada', tags: ['a', { b: null }] },
      settings: { trackClicks: false, trackOpens: true },
      sendAt: fromNow(-1_000),
      idempotencyKey: randomUUID(),
    };
    expect(emailIn(await stack.send(everything)).status).toBe('SENT');
  });

  it('K2, A3: lets an EDITOR send and read', async () => {
    const key = stack.tenant.keys.editor;
    const { id } = emailIn(await stack.send({}, { key }));
    expect((await stack.api().get(`/v1/emails/${id}`, { key })).status).toBe(200);
  });

  it('S8, S10: is observed: the email is SCHEDULED until then, and SENT afterwards', async () => {
    // Nothing may become ready before the check.
    stack.scheduler.program.kill('SIGSTOP');
    const sendAt = fromNow(5_000);
    const sent = emailIn(await stack.send({ sendAt }));
    expect(sent.status).toBe('SCHEDULED');
    const waiting = await stack.show(sent.id);
    expect(waiting).toMatchObject({ status: 'SCHEDULED', sendAt, sentAt: null });
    expect(waiting.timeline).toEqual([{ event: 'SCHEDULED', createdAt: waiting.createdAt }]);
    stack.scheduler.program.kill('SIGCONT');
    const message = await stack.onlyMailTo(sent.to);
    expect(message.receivedAt.getTime()).toBeGreaterThanOrEqual(Date.parse(sendAt));
    const shown = await stack.show(sent.id);
    expect(shown).toMatchObject({ status: 'SENT', timeline: [{ event: 'SCHEDULED' }, { event: 'SENT' }] });
    expect(new Date(headerValues(message, 'Date')[0]!).getTime()).toBe(toSecond(sendAt));
  });

  it('S10: is accepted with an offset', async () => {
    const inTwoHours = new Date(Date.now() + 2 * 60 * MINUTE_MS + 60 * MINUTE_MS).toISOString();
    const sent = emailIn(await stack.send({ sendAt: inTwoHours.replace('Z', '+01:00') }));
    const { sendAt } = await stack.show(sent.id);
    expect(Date.parse(sendAt!)).toBe(Date.parse(inTwoHours) - 60 * MINUTE_MS);
  });

  it('S10: less than 5 minutes in the past means now', async () => {
    const sent = emailIn(await stack.send({ sendAt: fromNow(10_000 - IN_THE_PAST_AT_MOST_MS) }));
    expect(sent.status).toBe('SENT');
    await stack.onlyMailTo(sent.to);
  });

  it('S10: is possible up to 90 days ahead', async () => {
    expect(emailIn(await stack.send({ sendAt: fromNow(90 * DAY_MS - MINUTE_MS) })).status).toBe('SCHEDULED');
  });
});

describe('POST /v1/emails: 400', () => {
  it('S10: more than 5 minutes in the past is refused', async () => {
    const answer = await stack.send({ sendAt: fromNow(-1_000 - IN_THE_PAST_AT_MOST_MS) });
    expect(answer.body).toStrictEqual({
      statusCode: 400,
      error: 'Bad Request',
      message: '`sendAt` is 6 minutes in the past; give a future time, or leave it out to send now',
    });
  });

  it('S10: more than 90 days ahead', async () => {
    const answer = await stack.send({ sendAt: fromNow(90 * DAY_MS + MINUTE_MS) });
    expect(answer.body).toStrictEqual({
      statusCode: 400,
      error: 'Bad Request',
      message: '`sendAt` is 91 days ahead; at most 90 are allowed',
    });
  });

  it('X1, S6, F8: an unverified sender, with the list of verified ones', async () => {
    const answer = await stack.send({ from: 'a@mail.example.com' });
    expect(answer.status).toBe(400);
    expect(answer.body).toStrictEqual({
      statusCode: 400,
      error: 'Bad Request',
      message: expect.stringContaining('`from` is a@mail.example.com, which is neither'),
      allowedEmails: [],
      allowedDomains: ['example.com'],
      docsUrl: expect.stringMatching(/^http.*\/docs\/errors\/unverified-sender$/),
    });
  });

  it('X2, S1, F8: a body of neither shape; the message lists what both require', async () => {
    const answer = await stack.api().post('/v1/emails', {});
    expect(answer.status).toBe(400);
    expect(answer.body).toStrictEqual({
      statusCode: 400,
      error: 'Bad Request',
      message: expect.stringMatching(/`from`, `to`, `subject` and `html`.*`template`, `to` and.*`variables`/),
      docsUrl: expect.stringMatching(/^http.*\/docs\/errors\/invalid-payload$/),
    });
  });
});

describe('POST /v1/emails: JSON that is not an object', () => {
  const required = /^The body must be a JSON object; a raw email requires `from`.* requires `template`/;
  it.each([[[]], [null], ['text'], [5], [true]])('X2, S1, F8: %j is neither of the shapes', async (body) => {
    const answer = await stack.api().post('/v1/emails', JSON.stringify(body));
    expect(answer.body).toStrictEqual({
      statusCode: 400,
      error: 'Bad Request',
      message: expect.stringMatching(required),
      docsUrl: expect.stringMatching(/\/docs\/errors\/invalid-payload$/),
    });
  });

  it.each([
    ['/v1/emails/batch', 'The body must be a JSON object with `emails`, an array of 1 to 50 emails'],
    ['/v1/webhooks', 'The body must be a JSON object'],
    ['/v1/templates', 'The body must be a JSON object'],
    ['/v1/contacts', 'The body must be a JSON object'],
  ])('F8, X2: %s has no such shapes, so its error has three fields', async (path, message) => {
    const answer = await stack.api().post(path, [], { key: stack.tenant.keys.editor });
    expect(answer.body).toStrictEqual({ statusCode: 400, error: 'Bad Request', message });
  });
});

describe('POST /v1/emails: 401', () => {
  it('A4, K2, X3: a VIEWER does not have the scope to send', async () => {
    const refused = await stack.send({}, { key: stack.tenant.keys.viewer });
    expect(refused.status).toBe(401);
    expect(refused.body).toStrictEqual({
      statusCode: 401,
      error: 'Unauthorized',
      message: 'The API key lacks the scope `api_user`; use a key with the role `API_USER` or `EDITOR`',
    });
  });
});

describe('POST /v1/emails: 403', () => {
  const sendFor = (tenant: Tenant, gateway: number, change: object = {}): Promise<Answer> =>
    stack.api(gateway).post('/v1/emails', { ...validEmail(), ...change }, { key: tenant.keys.apiUser });

  it('S13, X4: is exact for sixty concurrent calls on two gateways', async () => {
    const tenant = await stack.createTenant('Limited', 20);
    const answers = await Promise.all(Array.from({ length: 60 }, (_, n) => sendFor(tenant, n % 2)));
    const accepted = answers.filter((answer) => answer.status === 200);
    const refused = answers.filter((answer) => answer.status !== 200);
    expect(accepted).toHaveLength(20);
    const now = new Date();
    const reset = new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + 1, 1)).toISOString();
    for (const { body } of refused) {
      expect(body).toStrictEqual({
        statusCode: 403,
        error: 'Forbidden',
        message: `The monthly sending limit of 20 emails is reached (20 used); it resets at ${reset}`,
      });
    }
    const used = 'SELECT accepted AS count FROM usage JOIN workspaces ON id = workspace_id WHERE name = $1';
    expect(await stack.count(used, ['Limited'])).toBe(20);
  });

  it('S13: is equally exact with idempotency keys, and refuses no replay', async () => {
    const tenant = await stack.createTenant('Limited too', 3);
    const emails = Array.from({ length: 12 }, () => ({ ...validEmail(), idempotencyKey: randomUUID() }));
    const sendAll = (): Promise<Answer[]> =>
      Promise.all(emails.map((email, n) => sendFor(tenant, n % 2, email)));
    const first = await sendAll();
    expect(statusesOf(first).filter((status) => status === 200)).toHaveLength(3);
    expect(statusesOf(first).filter((status) => status === 403)).toHaveLength(9);
    const again = await sendAll();
    expect(statusesOf(again)).toEqual(statusesOf(first));
    expect(again.filter(isReplay)).toHaveLength(3);
  });

  it('S13: counts what was accepted, not what was refused', async () => {
    const tenant = await stack.createTenant('Limited again', 1);
    expect((await sendFor(tenant, 0, { from: 'nobody@unverified.example' })).status).toBe(400);
    expect((await sendFor(tenant, 1)).status).toBe(200);
    expect((await sendFor(tenant, 0)).status).toBe(403);
  });

  it('R4: a workspace without a limit of its own has that of the installation', async () => {
    const { url } = await stack.startApp('gateway', { MONTHLY_EMAIL_LIMIT: '2' });
    const [tenant, exempt] = [await stack.createTenant('Any'), await stack.createTenant('Its own', 3)];
    const send = async ({ keys }: Tenant): Promise<number> =>
      (await new Api(url, keys.apiUser).post('/v1/emails', validEmail())).status;
    for (const status of [200, 200, 403]) expect(await send(tenant)).toBe(status);
    for (const status of [200, 200, 200, 403]) expect(await send(exempt)).toBe(status);
  });
});

describe('POST /v1/emails: 409', () => {
  it('S11: another payload under a used key', async () => {
    const [email, idempotencyKey] = [validEmail(), randomUUID()];
    const { id } = emailIn(await stack.send({ ...email, idempotencyKey }));
    const other = await stack.send({ ...email, subject: 'Other', idempotencyKey });
    expect(other.body).toStrictEqual({
      statusCode: 409,
      error: 'Conflict',
      message: `The idempotency key was used before with another payload, for ${id}; repeat that payload, or use a new key`,
    });
  });
});
