import { randomUUID } from 'node:crypto';
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import {
  answerAt,
  COMMIT_SENT,
  FaultProxy,
  PrivatePostgres,
  PrivateRedis,
  type SinkScript,
  uniqueQueuePrefix,
} from '@posthorn/testing';
import { newSecret, type SecretPrefix } from '@posthorn/signing';
import { type Answer, type Api, emailIn } from './api.ts';
import { bodiesOf, call, ROUTES } from './openapi-routes.ts';
import { newRecipient, validEmail, Stack, until } from './stack.ts';

/** What "quickly" means for a call while a dependency is unavailable. */
const QUICK_MS = 1_000;
/** Ten seconds, and a margin for a machine that stands still for a while; whoever waits for an answer without a limit waits for minutes. */
const MAX_WAIT_FOR_503_MS = 60_000;

const idOf = (answer: Answer): string => emailIn(answer).id;

/** As in `phi_`. */
const LINK_PREFIX_LENGTH = 4;

const TEMPLATED = { template: 'welcome', to: 'ada@example.net' };

describe('without Redis', () => {
  const prefix = uniqueQueuePrefix();
  let redis: PrivateRedis;
  afterAll(() => redis.thaw());
  const stack = Stack.forTests(async () => {
    redis = await PrivateRedis.start();
    return { redisUrl: redis.url, env: { QUEUE_PREFIX: prefix } };
  });
  afterAll(() => redis.close());

  async function expectQuickAcceptance(count: number): Promise<string[]> {
    const recipients = Array.from({ length: count }, newRecipient);
    const answers: Answer[] = [];
    for (const to of recipients) answers.push(await stack.send({ to }));
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]));
    // If calls waited for Redis, all would be slow; on a busy machine some may be, but not all.
    expect(Math.min(...answers.map(({ durationMs }) => durationMs))).toBeLessThan(QUICK_MS);
    return recipients;
  }

  it('accepts equally quickly while it is stopped, and sends when it is back', async () => {
    await redis.stop();
    const recipients = await expectQuickAcceptance(5);
    await redis.restart();
    for (const to of recipients) await stack.onlyMailTo(to);
  });

  it('accepts equally quickly while it is frozen, and sends when it continues', async () => {
    const complaints = (): number => stack.gateways[0]!.program.output.split('a dependency does not').length;
    const complaintsBefore = complaints();
    redis.freeze();
    const first = await expectQuickAcceptance(5);
    await until(() => complaints() > complaintsBefore, 'the gateway has given a ring up');
    const recipients = [...first, ...(await expectQuickAcceptance(5))];
    redis.thaw();
    for (const to of recipients) await stack.onlyMailTo(to);
  });

  it('sends ready emails after it has lost all data', async () => {
    stack.sender.program.kill('SIGSTOP');
    const recipients = await expectQuickAcceptance(5);
    expect(recipients.flatMap((to) => stack.mailsTo(to))).toEqual([]);
    await redis.flush();
    stack.sender.program.kill('SIGCONT');
    for (const to of recipients) await stack.onlyMailTo(to);
  });

  it('sends emails that were accepted while somebody had paused all queues in it, and logs that', async () => {
    const queues = ['email-turns', 'event-turns', 'webhook-turns', 'webhook-turns-slow', 'maintenance'];
    for (const queue of queues) await redis.ask(`HSET ${prefix}:${queue}:meta paused 1`);
    const to = newRecipient();
    await stack.send({ to });
    await stack.onlyMailTo(to);
    for (const queue of queues)
      await until(
        async () => (await redis.ask(`HEXISTS ${prefix}:${queue}:meta paused`)).startsWith(':0'),
        `${queue} goes on`,
      );
    const told = 'a queue was paused or slowed down in Redis; it was resumed';
    await until(() => Promise.resolve(stack.scheduler.program.output.includes(told)), 'it is told');
  });

  it('keeps a scheduled email that falls due while it is stopped', async () => {
    await redis.stop();
    const sent = emailIn(await stack.send({ sendAt: new Date(Date.now() + 500).toISOString() }));
    await until(async () => (await stack.outboxRow(sent.id))?.state === 'ready', 'it is ready');
    await redis.restart();
    await stack.onlyMailTo(sent.to);
  });
});

describe('without Postgres', () => {
  let postgres: PrivatePostgres;
  let proxy: FaultProxy;
  const stack = Stack.forTests(async () => {
    postgres = await PrivatePostgres.start();
    proxy = await FaultProxy.before(postgres.url);
    return {
      databaseUrl: postgres.url,
      gatewayDatabaseUrl: proxy.urlFor(postgres.url),
      // Rows whose claim was lost are revived soon, but only after processes that know an outcome have reconnected and recorded it.
      env: { LEASE_MS: '5000', LEASE_RENEWAL_MS: '1500', LEASE_MARGIN_MS: '2000', LEASE_GRACE_MS: '10000' },
    };
  });
  afterAll(async () => {
    await proxy.close();
    await postgres.close();
  });

  const count = (table: string): Promise<number> => stack.count(`SELECT count(*)::int FROM ${table}`);
  const used = (): Promise<number> =>
    stack.count('SELECT coalesce(sum(accepted), 0)::int AS count FROM usage');
  const emailsTo = (to: string): Promise<number> =>
    stack.count('SELECT count(*)::int FROM emails WHERE to_address = $1', [to]);

  async function tables(): Promise<number[]> {
    return Promise.all([...['emails', 'email_contents', 'idempotency_keys'].map(count), used()]);
  }

  function expectUnavailable(answer: Answer): void {
    expect(answer.body).toStrictEqual({
      statusCode: 503,
      error: 'Service Unavailable',
      message: expect.stringMatching(/send (it|the request) again/),
    });
    expect(answer.status).toBe(503);
    expect(Number(answer.headers.get('retry-after'))).toBeGreaterThanOrEqual(1);
    expect(answer.durationMs).toBeLessThan(MAX_WAIT_FOR_503_MS);
  }

  const isWell = async (): Promise<boolean> => {
    // Nothing of this is a transaction: its COMMIT would be taken for the one that is to be cut.
    const answer = await stack.api().get('/v1/api-keys/check');
    return answer.status === 200;
  };

  /** New connections for the gateway: what was said on the old ones must not be taken for what is to be cut. */
  async function reconnect(): Promise<void> {
    proxy.cutAll();
    await until(isWell, 'the gateway has connections again');
  }

  it('answers 503 with Retry-After while it is stopped, does nothing partially, and works again when it is back', async () => {
    await stack.settled();
    const before = await tables();
    await postgres.stop();
    const email = { ...validEmail(), idempotencyKey: randomUUID() };
    expectUnavailable(await stack.send(email));
    expectUnavailable(await stack.send());
    expectUnavailable(await stack.api().get('/v1/emails/trs_01h455vb4pex5vsknk084sn02q'));
    for (const path of [`/invitations/${newSecret('phi_')}`, `/verify/identity/${newSecret('phv_')}`]) {
      expectUnavailable(await stack.api().get(path, { key: null }));
      const page = await stack.api().get(path, { key: null, headers: { Accept: 'text/html' } });
      expect([page.status, page.headers.get('content-type')]).toEqual([503, 'text/html; charset=utf-8']);
      expect(page.text).toContain('Try again in a moment');
      expect(Number(page.headers.get('retry-after'))).toBeGreaterThanOrEqual(1);
    }
    await postgres.restart();
    await until(isWell, 'the gateway works again');
    expect(await tables()).toEqual(before);
    expect((await stack.send(email)).headers.get('idempotent-replayed')).toBeNull();
    await stack.onlyMailTo(email.to);
  });

  it('answers as its description says on every route', async () => {
    const caller = { stack, tenant: stack.tenant, api: stack.apiAs(stack.tenant.keys.editor) };
    await postgres.stop();
    // `call` expects each answer to be as described.
    const answers = await Promise.all(
      ROUTES.map((route) => {
        // Links that could exist: others are refused without looking them up.
        const link = route.parameters.find(({ name }) => name === 'token')?.example as string | undefined;
        const parts =
          link === undefined ? {} : { token: newSecret(link.slice(0, LINK_PREFIX_LENGTH) as SecretPrefix) };
        return call(route, caller, parts, bodiesOf(route)[0]?.[1]);
      }),
    ).finally(() => postgres.restart());
    await until(isWell, 'the gateway works again');
    const statuses = answers.map(({ status }) => status);
    expect(new Set(statuses)).toEqual(new Set([200, 404, 503]));
    expect(statuses.filter((status) => status === 503).length).toBeGreaterThan(50);
  });

  // Whose key it is was known by then; what is cut is told by a table that nothing else of such a request reads.
  it.each([
    ['a batch', 'templates t', (api: Api) => api.post('/v1/emails/batch', { emails: [TEMPLATED] })],
    ['contacts', 'FROM     contacts c', (api: Api) => api.get('/v1/contacts')],
    ['suppressions', 'FROM     suppressions s', (api: Api) => api.get('/v1/suppressions')],
    ['a preview', 'dkim_keys k', (api: Api, id: string) => api.get(`/v1/emails/${id}/preview`)],
  ])('answers 503 where it is lost while it is asked for %s', async (_what, statement, call) => {
    const id = idOf(await stack.send());
    // The sender asks for keys, too, but not by way of the proxy.
    await reconnect();
    const cut = proxy.cutBefore(statement);
    expectUnavailable(await call(stack.api(), id));
    await cut;
  });

  it('answers 503 within ten seconds while it is frozen', async () => {
    const before = await tables();
    proxy.freeze();
    expectUnavailable(await stack.send());
    await proxy.heal();
    await until(isWell, 'the gateway works again');
    expect(await tables()).toEqual(before);
  });

  it('accepts once, with the id that it answers, when the answer to the accepting statement is lost', async () => {
    await reconnect();
    const usedBefore = await used();
    const cut = proxy.cutAfter('accept_emails');
    const email = validEmail();
    const answer = await stack.send(email);
    await cut;
    expect(answer.status).toBe(200);
    expect(await emailsTo(email.to)).toBe(1);
    expect(await used()).toBe(usedBefore + 1);
    expect((await stack.show(idOf(answer))).to).toBe(email.to);
    await stack.onlyMailTo(email.to);
  });

  it('accepts once when the connection is lost before the accepting statement', async () => {
    await reconnect();
    const usedBefore = await used();
    const cut = proxy.cutBefore('accept_emails');
    const email = validEmail();
    const answer = await stack.send(email);
    await cut;
    expect(answer.status).toBe(200);
    expect(await emailsTo(email.to)).toBe(1);
    expect(await used()).toBe(usedBefore + 1);
    await stack.onlyMailTo(email.to);
  });

  it.each(['cutAfter', 'cutBefore'] as const)(
    'accepts once under an idempotency key when the connection is lost at COMMIT (%s)',
    async (fault) => {
      await reconnect();
      const usedBefore = await used();
      const cut = proxy[fault](COMMIT_SENT);
      const email = { ...validEmail(), idempotencyKey: randomUUID() };
      const answer = await stack.send(email);
      await cut;
      expect(answer.status).toBe(200);
      expect(answer.headers.get('idempotent-replayed')).toBeNull();
      expect(await emailsTo(email.to)).toBe(1);
      expect(await used()).toBe(usedBefore + 1);
      expect((await stack.show(idOf(answer))).to).toBe(email.to);
      const again = await stack.send(email);
      expect(again.text).toBe(answer.text);
      expect(again.headers.get('idempotent-replayed')).toBe('true');
      await stack.onlyMailTo(email.to);
    },
  );

  it('accepts each of many emails once when the answer to their common COMMIT is lost', async () => {
    await reconnect();
    const usedBefore = await used();
    const cut = proxy.cutAfter(COMMIT_SENT);
    const emails = Array.from({ length: 30 }, (_, n) => ({
      ...validEmail(),
      ...(n % 2 === 0 ? { idempotencyKey: randomUUID() } : {}),
    }));
    const answers = await Promise.all(emails.map((email) => stack.send(email)));
    await cut;
    expect(new Set(answers.map((answer) => answer.status))).toEqual(new Set([200]));
    expect(await used()).toBe(usedBefore + 30);
    for (const [n, { to }] of emails.entries()) {
      expect(await emailsTo(to)).toBe(1);
      expect((await stack.show(idOf(answers[n]!))).to).toBe(to);
      await stack.onlyMailTo(to);
    }
  });
});

describe('when the relay', () => {
  const wellRelay: SinkScript = () => undefined;
  const stack = Stack.forTests({
    sink: { auth: true },
    smtpUrl: (url) => url.replace('//', '//user:pass@'),
    // Each email gets a new connection to the relay.
    env: { SMTP_MESSAGES_PER_CONNECTION: '1' },
  });
  afterEach(() => {
    stack.sink.script = wellRelay;
  });

  /** Makes all retries due now. */
  async function retryNow(id: string): Promise<void> {
    await until(async () => (await stack.outboxRow(id))?.state === 'waiting', 'it waits for its retry');
    await stack.makeDue(id);
  }

  async function expectRetryInAMinute(id: string): Promise<void> {
    expect(await stack.outboxRow(id)).toMatchObject({ state: 'waiting', attempts: 1 });
    expect(await stack.dueAfterSeconds(id)).toBeCloseTo(60);
  }

  const events = async (id: string): Promise<string[]> =>
    (await stack.show(id)).timeline.map((entry) => entry.event);

  it.each([
    ['refuses our login', 'auth', { reply: '535 5.7.8 no such user' }],
    ['greets with 554', 'greeting', { reply: '554 5.3.2 go away' }],
    ['greets with 421', 'greeting', { reply: '421 4.3.2 too busy' }],
    ['hangs up before it greets', 'greeting', { drop: true }],
  ] as const)('%s, emails wait, lose no attempt, and leave when it is well', async (_what, where, answer) => {
    let tries = 0;
    stack.sink.script = (stage) => {
      if (stage !== where) return undefined;
      tries += 1;
      return answer;
    };
    const [sent, other] = [emailIn(await stack.send()), emailIn(await stack.send())];
    await until(() => tries >= 2, 'the sender has tried the relay twice');
    for (const { id } of [sent, other]) {
      expect(await stack.show(id)).toMatchObject({ status: 'SENT', sentAt: null });
      expect(await events(id)).toEqual(['ACCEPTED']);
      expect((await stack.outboxRow(id))?.attempts).toBe(0);
    }
    stack.sink.script = wellRelay;
    for (const { id, to } of [sent, other]) {
      await stack.onlyMailTo(to);
      const shown = await stack.show(id);
      expect(shown.timeline).toMatchObject([{ event: 'ACCEPTED' }, { event: 'SENT', attempt: 1 }]);
    }
  });

  it('says 451 to a recipient, the email is delayed by a minute and then sent', async () => {
    stack.sink.script = answerAt('rcpt', { reply: '451 4.7.1 greylisted' });
    const { id, to } = emailIn(await stack.send());
    await until(async () => (await events(id)).length === 2, 'the answer is recorded');
    const shown = await stack.show(id);
    expect(shown).toMatchObject({ status: 'SENT', sentAt: null });
    expect(shown.timeline[1]).toMatchObject({
      event: 'DELAYED',
      attempt: 1,
      retryAfterSeconds: 60,
      stage: 'rcpt',
      reply: { code: 451, enhancedCode: '4.7.1' },
    });
    expect(shown.timeline[1]).not.toHaveProperty('duplicatePossible');
    await expectRetryInAMinute(id);
    stack.sink.script = wellRelay;
    await retryNow(id);
    await stack.onlyMailTo(to);
    expect((await stack.show(id)).timeline.at(-1)).toMatchObject({ event: 'SENT', attempt: 2 });
  });

  it.each([
    ['550 to a recipient', 'rcpt', '550 5.1.1 no such user', 'BOUNCED'],
    ['554 to a message', 'content', '554 5.6.0 not that', 'FAILED'],
  ] as const)('says %s, the email is not tried again', async (_what, where, reply, status) => {
    stack.sink.script = answerAt(where, { reply });
    const { id, to } = emailIn(await stack.send());
    await until(async () => (await stack.show(id)).status === status, `it is ${status}`);
    const shown = await stack.show(id);
    expect(shown.sentAt).toBeNull();
    expect(shown.timeline).toMatchObject([
      { event: 'ACCEPTED' },
      { event: status, attempt: 1, stage: where, reply: { code: Number(reply.slice(0, 3)) } },
    ]);
    expect(await stack.outboxRow(id)).toBeUndefined();
    expect(stack.mailsTo(to)).toEqual([]);
  });

  it('hangs up after the final dot, the email may have been doubled, and says so', async () => {
    stack.sink.script = answerAt('content', { drop: true });
    const { id, to } = emailIn(await stack.send());
    await until(async () => (await events(id)).length === 2, 'the loss is recorded');
    expect((await stack.show(id)).timeline[1]).toMatchObject({
      event: 'REPLY_LOST',
      attempt: 1,
      retryAfterSeconds: 60,
      duplicatePossible: true,
    });
    await expectRetryInAMinute(id);
    stack.sink.script = wellRelay;
    await retryNow(id);
    await stack.onlyMailTo(to);
    expect(await events(id)).toEqual(['ACCEPTED', 'REPLY_LOST', 'SENT']);
  });
});

describe('when a sender gets SIGTERM', () => {
  const EMAILS = 200;
  const BEFORE_IT = 20;
  const { promise: told, resolve: tell } = Promise.withResolvers<void>();
  let begun = 0;
  /** A relay that accepts nothing until the signal was sent, so that many emails are claimed then. */
  const script: SinkScript = (stage) =>
    stage === 'content' && (begun += 1) > BEFORE_IT ? { after: told } : undefined;
  const stack = Stack.forTests({ sink: { script }, env: { SMTP_CONNECTIONS: '4' } });

  it('it loses and doubles nothing, and exits with 0', async () => {
    const answers = await Promise.all(Array.from({ length: EMAILS }, () => stack.send()));
    await until(() => stack.sink.count === BEFORE_IT, 'it is at work');
    stack.sender.program.kill('SIGTERM');
    tell();
    expect(await stack.sender.program.exit).toEqual({ code: 0, signal: null });
    expect(stack.sink.count).toBeLessThan(EMAILS);
    expect(await stack.count("SELECT count(*)::int FROM outbox WHERE state = 'taken'")).toBe(0);
    await stack.startApp('sender');
    await stack.settled();
    for (const answer of answers) expect(stack.mailsTo(emailIn(answer).to)).toHaveLength(1);
    expect(stack.sink.count).toBe(EMAILS);
  });
});

describe('when a sender gets SIGTERM while the relay is silent', () => {
  let sender: Stack['sender'];
  const stack = Stack.forTests();
  beforeAll(() => {
    ({ sender } = stack);
  });

  it.each(['greeting', 'mail', 'rcpt'] as const)(
    'at %s, it gives its email back at once, without an attempt',
    async (where) => {
      let isReached = false;
      stack.sink.script = (stage) => {
        if (stage !== where) return undefined;
        isReached = true;
        return {};
      };
      const { id, to } = emailIn(await stack.send());
      await until(() => isReached, 'the sender waits for an answer');
      sender.program.kill('SIGTERM');
      expect(await sender.program.exit).toEqual({ code: 0, signal: null });
      expect(await stack.outboxRow(id)).toMatchObject({ state: 'ready', attempts: 0 });
      expect(sender.program.output).not.toContain('ALARM');
      stack.sink.script = () => undefined;
      sender = await stack.startApp('sender');
      await stack.onlyMailTo(to);
      expect((await stack.show(id)).timeline.map(({ event }) => event)).toEqual(['ACCEPTED', 'SENT']);
    },
  );
});

describe('when a sender gets SIGTERM while it makes the text of an email', () => {
  /** Takes 20 s and more, were it not for its deadline; see the spec of `HtmlToText`. */
  const SLOW_HTML = '<blockquote>x y'.repeat(2_500);
  const stack = Stack.forTests();

  it('the email is given back at once, without an attempt', async () => {
    const id = idOf(await stack.send({ html: SLOW_HTML }));
    const inState = (state: string): Promise<number> =>
      stack.count(`SELECT count(*)::int FROM outbox WHERE state = '${state}'`);
    await until(async () => (await inState('taken')) === 1, 'it is at work');
    stack.sender.program.kill('SIGTERM');
    expect(await stack.sender.program.exit).toEqual({ code: 0, signal: null });
    expect((await stack.show(id)).timeline.map(({ event }) => event)).toEqual(['ACCEPTED']);
    expect(await inState('ready')).toBe(1);
  });
});
