import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type Answer, emailIn, type RequestOptions } from './api.ts';
import { decoded, headerValues, parseMail, withLf } from './mail.ts';
import { newRecipient, soundEmail, Stack, type Tenant, until } from './stack.ts';

const MINUTE_MS = 60_000;
const DAY_MS = 24 * 60 * MINUTE_MS;
const IN_THE_PAST_AT_MOST_MS = 5 * MINUTE_MS;

let stack: Stack;
beforeAll(async () => {
  stack = await Stack.start({ gateways: 2 });
}, 60_000);
afterAll(() => stack.close());

const fromNow = (ms: number): string => new Date(Date.now() + ms).toISOString();
const statuses = (answers: readonly Answer[]): number[] => answers.map((answer) => answer.status);
const isReplay = (answer: Answer): boolean => answer.headers.get('idempotent-replayed') === 'true';

describe('the answer', () => {
  it('2.4: is an Email object with exactly the fields of the interface', async () => {
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

  it('2.4: repeats `groupBy` when it was given', async () => {
    expect(emailIn(await stack.send({ groupBy: 'summer' }))).toMatchObject({ groupBy: 'summer' });
  });

  it('S9: has a Message-ID of its own for each email', async () => {
    const sent = await Promise.all(Array.from({ length: 20 }, () => stack.send().then(emailIn)));
    expect(new Set(sent.map((email) => email.messageId)).size).toBe(20);
  });

  it('2.1: is as good with every optional field', async () => {
    const everything = {
      ...{ fromName: 'Shop', text: 'Hi', previewText: 'Look', replyTo: 'help@example.com', groupBy: 'g' },
      contactProperties: { firstName: 'Ada', tags: ['a', { b: null }] },
      settings: { trackClicks: false, trackOpens: true },
      sendAt: fromNow(-1_000),
      idempotencyKey: randomUUID(),
    };
    expect(emailIn(await stack.send(everything)).status).toBe('SENT');
  });
});

describe('GET /v1/emails/{id}', () => {
  it('S18: shows the email with its timeline', async () => {
    const sent = emailIn(await stack.send({ groupBy: 'summer' }));
    await stack.onlyMailTo(sent.to);
    const shown = await stack.show(sent.id);
    const time = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
    expect(shown).toMatchObject({ ...sent, createdAt: time, sendAt: null, sentAt: time });
    expect(shown.timeline).toMatchObject([
      { event: 'ACCEPTED', createdAt: shown.createdAt },
      { event: 'SENT', createdAt: shown.sentAt, attempt: 1, reply: { code: 250 } },
    ]);
  });

  it('G3: is 404 for an email of another workspace, as for one that does not exist', async () => {
    const { id } = emailIn(await stack.send());
    const other = await stack.createTenant('Other');
    const foreign = await stack.api().get(`/v1/emails/${id}`, { key: other.keys.editor });
    const unknown = await stack.api().get('/v1/emails/trs_01h455vb4pex5vsknk084sn02q');
    expect(foreign.status).toBe(404);
    expect(foreign.body).toEqual(unknown.body);
  });

  it.each([
    ...['trs_', 'trs_1', '1', 'trs_01h455vb4pex5vsknk084sn02', 'TRS_01H455VB4PEX5VSKNK084SN02Q'],
    ...['wrk_01h455vb4pex5vsknk084sn02q', 'trs_81h455vb4pex5vsknk084sn02q', '%00', '%27%20OR%201=1', 'batch'],
  ])('G3: is 404 for %s, which is no id', async (id) => {
    const answer = await stack.api().get(`/v1/emails/${id}`);
    expect(answer.status).toBe(404);
    expect(answer.body).toMatchObject({ statusCode: 404, error: 'Not Found' });
  });

  it('K2: lets a VIEWER read, but not send', async () => {
    const { id } = emailIn(await stack.send());
    const key = stack.tenant.keys.viewer;
    expect((await stack.api().get(`/v1/emails/${id}`, { key })).status).toBe(200);
    const refused = await stack.send({}, { key });
    expect(refused.status).toBe(401);
    expect(refused.body).toStrictEqual({
      statusCode: 401,
      error: 'Unauthorized',
      message: 'The API key lacks the scope `api_user`; use a key with another role',
    });
  });

  it('K2: lets an EDITOR do both', async () => {
    const key = stack.tenant.keys.editor;
    const { id } = emailIn(await stack.send({}, { key }));
    expect((await stack.api().get(`/v1/emails/${id}`, { key })).status).toBe(200);
  });
});

describe('the mail', () => {
  it('arrives once, with the envelope and headers that were asked for', async () => {
    const to = newRecipient();
    const { id, messageId } = emailIn(
      await stack.send({
        from: 'Name Within <Sales@Example.COM>',
        fromName: 'Zoë & Söhne, "Berlin"',
        to: `"Lovelace, Ada" <${to}>`,
        subject: 'Grüße 📨 – 你好',
        replyTo: 'Help <help@example.com>',
      }),
    );
    const message = await stack.onlyMailTo(to);
    expect(message).toMatchObject({ from: 'Sales@example.com', to: [to] });
    const mail = await parseMail(message);
    expect(mail).toMatchObject({
      from: { name: 'Zoë & Söhne, "Berlin"', address: 'Sales@example.com' },
      to: [{ name: 'Lovelace, Ada', address: to }],
      replyTo: [{ name: 'Help', address: 'help@example.com' }],
      subject: 'Grüße 📨 – 你好',
      messageId: `<${messageId}>`,
    });
    const { createdAt } = await stack.show(id);
    expect(new Date(headerValues(message, 'Date')[0]!).getTime()).toBe(toSecond(createdAt));
    for (const name of ['From', 'To', 'Reply-To', 'Subject', 'Date', 'Message-ID', 'MIME-Version'])
      expect(headerValues(message, name)).toHaveLength(1);
  });

  it('S5: bears the name within `from` when there is no `fromName`', async () => {
    const { to } = emailIn(await stack.send({ from: 'Name Within <sales@example.com>' }));
    expect((await parseMail(await stack.onlyMailTo(to))).from).toEqual({
      name: 'Name Within',
      address: 'sales@example.com',
    });
  });

  it('S7: names up to five addresses to reply to', async () => {
    const replyTo = [1, 2, 3, 4, 5].map((n) => `Äda ${n} <ada${n}@example.net>`);
    const { to } = emailIn(await stack.send({ replyTo }));
    expect((await parseMail(await stack.onlyMailTo(to))).replyTo).toEqual(
      [1, 2, 3, 4, 5].map((n) => ({ name: `Äda ${n}`, address: `ada${n}@example.net` })),
    );
  });

  it('S7: has no Reply-To when none was given', async () => {
    const { to } = emailIn(await stack.send());
    expect(headerValues(await stack.onlyMailTo(to), 'Reply-To')).toEqual([]);
  });

  it('S4: goes to an internationalised domain by its punycode', async () => {
    const local = newRecipient().split('@')[0];
    const { to } = emailIn(await stack.send({ to: `${local}@bücher.example` }));
    expect(to).toBe(`${local}@xn--bcher-kva.example`);
    expect(headerValues(await stack.onlyMailTo(to), 'To')).toEqual([to]);
  });

  it('has the HTML that was given, whatever is in it', async () => {
    const html = [
      '<!doctype html><body>\n.\n..\nFrom here\n=3D =\t \n',
      `<p>${'é漢😀'.repeat(600)}</p>\r\n<pre>  \n\ttab\n</pre>`,
      `<p>${'x'.repeat(3_000)}</p>\n--boundary--\n`,
      '{{not.a.template}} \u2028 \u0085 \u00a0</body>',
    ].join('');
    const { to } = emailIn(await stack.send({ html, text: 'short' }));
    const mail = await parseMail(await stack.onlyMailTo(to));
    expect(decoded(mail.html)).toBe(withLf(html));
    expect(decoded(mail.text)).toBe('short');
  });

  it('S16: has a text made of the HTML, links kept, when none was given', async () => {
    const html = '<h1>Hi</h1><p>Read <a href="https://example.com/a?b=1&amp;c=2">this</a>.</p>';
    const { to } = emailIn(await stack.send({ html }));
    const { text } = await parseMail(await stack.onlyMailTo(to));
    expect(text).toContain('this');
    expect(text).toContain('https://example.com/a?b=1&c=2');
    expect(text).not.toContain('<');
  });

  it('S15: begins with the hidden preview text', async () => {
    const html = '<html><head><title>T</title></head><body class="a"><p>Body</p></body></html>';
    const { to } = emailIn(await stack.send({ html, previewText: 'Now <b>& here' }));
    const mail = await parseMail(await stack.onlyMailTo(to));
    expect(mail.html).toMatch(
      /<body class="a"><div style="display:none;[^"]*">Now &lt;b&gt;&amp; here(&#847;&zwnj;&nbsp;)+<\/div><p>Body/,
    );
    expect(decoded(mail.html).replace(/<div style="display:none.*<\/div>(?=<p>)/, '')).toBe(html);
  });
});

describe('sendAt', () => {
  it('8.3: is kept: the email is SCHEDULED until then, and SENT after', async () => {
    const sendAt = fromNow(3_000);
    const sent = emailIn(await stack.send({ sendAt }));
    expect(sent.status).toBe('SCHEDULED');
    const waiting = await stack.show(sent.id);
    expect(waiting).toMatchObject({ status: 'SCHEDULED', sendAt, sentAt: null });
    expect(waiting.timeline).toEqual([{ event: 'SCHEDULED', createdAt: waiting.createdAt }]);
    const message = await stack.onlyMailTo(sent.to);
    const lateMs = message.receivedAt.getTime() - Date.parse(sendAt);
    expect(lateMs).toBeGreaterThanOrEqual(0);
    expect(lateMs).toBeLessThan(3_000);
    const shown = await stack.show(sent.id);
    expect(shown).toMatchObject({ status: 'SENT', timeline: [{ event: 'SCHEDULED' }, { event: 'SENT' }] });
    expect(new Date(headerValues(message, 'Date')[0]!).getTime()).toBe(toSecond(sendAt));
  });

  it('S10: is taken with an offset', async () => {
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

  it('S10: more than 5 minutes in the past is refused', async () => {
    const answer = await stack.send({ sendAt: fromNow(-1_000 - IN_THE_PAST_AT_MOST_MS) });
    expect(answer.body).toStrictEqual({
      statusCode: 400,
      error: 'Bad Request',
      message: '`sendAt` is 6 minutes in the past; give a time to come, or leave it out to send now',
    });
  });

  it('8: is possible up to 90 days ahead', async () => {
    expect(emailIn(await stack.send({ sendAt: fromNow(90 * DAY_MS - MINUTE_MS) })).status).toBe('SCHEDULED');
    const answer = await stack.send({ sendAt: fromNow(90 * DAY_MS + MINUTE_MS) });
    expect(answer.body).toStrictEqual({
      statusCode: 400,
      error: 'Bad Request',
      message: '`sendAt` is 91 days ahead; at most 90 are possible',
    });
  });
});

describe('idempotency', () => {
  const emailsTo = (to: string): Promise<number> =>
    stack.count('SELECT count(*)::int FROM emails WHERE to_address = $1', [to]);

  it.each([
    ['field', (key: string) => [{ idempotencyKey: key }, {}]],
    ['header', (key: string) => [{}, { headers: { 'Idempotency-Key': key } }]],
    ['both', (key: string) => [{ idempotencyKey: key }, { headers: { 'Idempotency-Key': key } }]],
  ] as [string, (key: string) => [object, RequestOptions]][])(
    'S11: answers a repeated call with the first answer, byte for byte, by %s',
    async (_by, withKey) => {
      const [change, options] = withKey(randomUUID());
      const email = { ...soundEmail(), ...change, groupBy: 'ü' };
      const first = await stack.send(email, options);
      const again = await stack.send(email, options);
      expect([isReplay(first), isReplay(again)]).toEqual([false, true]);
      expect(again.text).toBe(first.text);
      await stack.onlyMailTo(emailIn(first).to);
      expect(await emailsTo(email.to)).toBe(1);
    },
  );

  it('S11: takes the field and the header for the same key', async () => {
    const [email, key] = [soundEmail(), randomUUID()];
    const first = await stack.send({ ...email, idempotencyKey: key });
    const again = await stack.send(email, { headers: { 'Idempotency-Key': key } });
    expect(isReplay(again)).toBe(true);
    expect(again.text).toBe(first.text);
  });

  it('S11: compares what was sent as JSON, not as bytes', async () => {
    const [email, key] = [soundEmail(), randomUUID()];
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
    const [email, key] = [soundEmail(), randomUUID()];
    const first = await stack.send({ ...email, idempotencyKey: key });
    for (const change of [{ subject: 'Other' }, { groupBy: 'g' }, { from: 'nobody@unverified.example' }]) {
      const other = await stack.send({ ...email, ...change, idempotencyKey: key });
      expect(other.body).toMatchObject({ statusCode: 409, error: 'Conflict' });
      expect(isReplay(other)).toBe(false);
    }
    expect((await stack.send({ ...email, idempotencyKey: key })).text).toBe(first.text);
    expect(await emailsTo(email.to)).toBe(1);
  });

  it('S11: does not use a key up by a call that was refused', async () => {
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

  it('S11: keeps the keys of workspaces apart', async () => {
    const [email, idempotencyKey] = [soundEmail(), randomUUID()];
    const other = await stack.createTenant('Neighbour');
    const first = await stack.send({ ...email, idempotencyKey });
    const second = await stack.send({ ...email, idempotencyKey }, { key: other.keys.apiUser });
    expect([isReplay(first), isReplay(second)]).toEqual([false, false]);
    expect(await emailsTo(email.to)).toBe(2);
  });

  it('S11: makes one email of fifty calls at the same moment on two gateways', async () => {
    const email = { ...soundEmail(), idempotencyKey: randomUUID() };
    const answers = await Promise.all(
      Array.from({ length: 50 }, (_, n) => stack.api(n % 2).post('/v1/emails', email)),
    );
    expect(new Set(statuses(answers))).toEqual(new Set([200]));
    expect(new Set(answers.map((answer) => answer.text)).size).toBe(1);
    expect(answers.filter(isReplay)).toHaveLength(49);
    await stack.onlyMailTo(email.to);
    expect(await emailsTo(email.to)).toBe(1);
  });

  it('S11: gives each of a hundred calls at once on one gateway the one answer', async () => {
    const email = { ...soundEmail(), idempotencyKey: randomUUID() };
    const answers = await Promise.all(
      Array.from({ length: 100 }, () => stack.api().post('/v1/emails', email)),
    );
    expect(new Set(statuses(answers))).toEqual(new Set([200]));
    expect(answers.filter(isReplay)).toHaveLength(99);
  });

  it('S11: refuses each of a hundred calls at once for what is wrong with it', async () => {
    const email = { ...soundEmail(), from: 'nobody@unverified.example', idempotencyKey: randomUUID() };
    const answers = await Promise.all(
      Array.from({ length: 100 }, (_, n) => stack.api(n % 2).post('/v1/emails', email)),
    );
    expect(new Set(statuses(answers))).toEqual(new Set([400]));
    expect(await emailsTo(email.to)).toBe(0);
  });

  it('S11: lets one of two payloads that race for a key win, and refuses the other', async () => {
    const idempotencyKey = randomUUID();
    const emails = [soundEmail(), soundEmail()];
    const answers = await Promise.all(
      emails.map((email, n) => stack.api(n).post('/v1/emails', { ...email, idempotencyKey })),
    );
    expect(statuses(answers).sort()).toEqual([200, 409]);
  });

  it('G5: gives a replay even when its `sendAt` has become impossible', async () => {
    const leftMs = 1_500;
    const email = { ...soundEmail(), sendAt: fromNow(leftMs - IN_THE_PAST_AT_MOST_MS) };
    const idempotencyKey = randomUUID();
    const first = await stack.send({ ...email, idempotencyKey });
    expect(first.status).toBe(200);
    await sleep(leftMs);
    await until(async () => (await stack.send(email)).status === 400, '`sendAt` is impossible');
    const again = await stack.send({ ...email, idempotencyKey });
    expect(again.text).toBe(first.text);
    expect(isReplay(again)).toBe(true);
  });
});

describe('the monthly limit', () => {
  const sendFor = (tenant: Tenant, gateway: number, change: object = {}): Promise<Answer> =>
    stack.api(gateway).post('/v1/emails', { ...soundEmail(), ...change }, { key: tenant.keys.apiUser });

  it('S13: is exact when sixty calls race on two gateways', async () => {
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

  it('S13: is as exact with idempotency keys, and refuses no replay', async () => {
    const tenant = await stack.createTenant('Limited too', 3);
    const emails = Array.from({ length: 12 }, () => ({ ...soundEmail(), idempotencyKey: randomUUID() }));
    const sendAll = (): Promise<Answer[]> =>
      Promise.all(emails.map((email, n) => sendFor(tenant, n % 2, email)));
    const first = await sendAll();
    expect(statuses(first).filter((status) => status === 200)).toHaveLength(3);
    expect(statuses(first).filter((status) => status === 403)).toHaveLength(9);
    const again = await sendAll();
    expect(statuses(again)).toEqual(statuses(first));
    expect(again.filter(isReplay)).toHaveLength(3);
  });

  it('S13: counts what was accepted, not what was refused', async () => {
    const tenant = await stack.createTenant('Limited again', 1);
    expect((await sendFor(tenant, 0, { from: 'nobody@unverified.example' })).status).toBe(400);
    expect((await sendFor(tenant, 1)).status).toBe(200);
    expect((await sendFor(tenant, 0)).status).toBe(403);
  });
});

function toSecond(time: string): number {
  return Math.floor(Date.parse(time) / 1_000) * 1_000;
}
