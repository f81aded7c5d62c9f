import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { FaultProxy, testRedisUrl } from '@posthorn/testing';
import { newApiKeySecret } from '@posthorn/signing';
import { type AcceptedEmail, type Answer, emailIn } from './api.ts';
import { newRecipient, Stack, until } from './stack.ts';

/** Canaries: each stands for something that no log line may contain, and occurs nowhere else. */
const CANARIES = {
  html: 'canary-html-Q7',
  text: 'canary-text-Q7',
  previewText: 'canary-preview-Q7',
  subject: 'canary-subject-Q7',
  fromName: 'canary-name-Q7',
  from: 'canary-from-q7',
  to: 'canary-to-q7',
  replyTo: 'canary-reply-q7',
  contactProperties: 'canary-property-Q7',
  token: 'canary-token-Q7',
  smtpPassword: 'canary-smtp-Q7',
  unverified: 'canary-stranger-q7',
};

interface Line {
  readonly level: string;
  readonly time: string;
  readonly app: string;
  readonly pid: number;
  readonly msg: string;
  readonly requestId?: string;
  readonly status?: number;
  readonly workspaceId?: string;
  readonly apiKeyId?: string;
  readonly emailIds?: string[];
}

let redisProxy: FaultProxy;
/** The ids of all requests that were answered. */
const requestIds: string[] = [];
/** The ids of emails in some of these answers. */
const toldOf: { readonly requestId: string; readonly emailIds: string[] }[] = [];
const strangersKey = newApiKeySecret();

const stack = Stack.forTests(async () => {
  redisProxy = await FaultProxy.before(testRedisUrl());
  return {
    redisUrl: redisProxy.urlFor(testRedisUrl()),
    sink: { auth: true },
    smtpUrl: (url) => url.replace('//', `//user:${CANARIES.smtpPassword}@`),
    env: { LOG_LEVEL: 'trace', SMTP_MESSAGES_PER_CONNECTION: '1' },
  };
});
beforeAll(async () => {
  await sendWell();
  await sendWhatIsRefused();
  await meetRelayTrouble();
  await meetRedisTrouble();
  await stop();
});
afterAll(() => redisProxy.close());

function canaryEmail(): Record<string, unknown> {
  return {
    from: `${CANARIES.fromName} <${CANARIES.from}@example.com>`,
    fromName: CANARIES.fromName,
    to: `${CANARIES.to}.${newRecipient()}`,
    subject: CANARIES.subject,
    html: `<p>${CANARIES.html}</p>`,
    text: CANARIES.text,
    previewText: CANARIES.previewText,
    replyTo: `${CANARIES.replyTo}@example.net`,
    contactProperties: { [CANARIES.contactProperties]: CANARIES.contactProperties },
    groupBy: 'group',
    idempotencyKey: randomUUID(),
  };
}

const requestIdOf = (answer: Answer): string => answer.headers.get('x-request-id') ?? 'none';
const noted = (answer: Answer): Answer => {
  requestIds.push(requestIdOf(answer));
  return answer;
};

/** The ids of emails in the answer to a single email or a batch. */
function emailIdsIn({ body }: Answer): string[] {
  const { email, emails } = body as { email?: AcceptedEmail; emails?: { successful: AcceptedEmail[] } };
  return (email ? [email] : emails!.successful).map(({ id }) => id);
}

async function sendWell(): Promise<void> {
  const email = canaryEmail();
  const answers = [
    await stack.send(email),
    await stack.send(email),
    await stack.send(email, { key: stack.tenant.keys.editor }),
    await stack
      .api()
      .post('/v1/emails/batch', { emails: [canaryEmail(), { ...email, to: '' }, canaryEmail()] }),
  ];
  for (const answer of answers)
    toldOf.push({ requestId: requestIdOf(noted(answer)), emailIds: emailIdsIn(answer) });
  const sent = emailIn(answers[0]!);
  await stack.onlyMailTo(sent.to);
  noted(await stack.api().get(`/v1/emails/${sent.id}`));
}

/** Invalid requests with a canary in the invalid part, so that logging that part is detected. */
async function sendWhatIsRefused(): Promise<void> {
  const email = canaryEmail();
  const bodies: unknown[] = [
    { ...email, from: `${CANARIES.unverified}@elsewhere.example` },
    { ...email, to: `${CANARIES.to}@` },
    { ...email, to: `${CANARIES.to}@@x` },
    { ...email, sendAt: CANARIES.text },
    { ...email, [CANARIES.text]: CANARIES.text },
    { ...email, template: CANARIES.text },
    { template: CANARIES.text, to: `${CANARIES.to}@receiver.example`, variables: { a: CANARIES.text } },
    { ...email, subject: `${CANARIES.subject}\r\n` },
    { ...email, html: `${CANARIES.html}\0` },
    JSON.stringify(email).slice(0, -1),
    `${CANARIES.html}`,
  ];
  for (const body of bodies) noted(await stack.api().post('/v1/emails', body));
  const { apiUser, viewer } = stack.tenant.keys;
  for (const key of [viewer, strangersKey, `${apiUser}x`, CANARIES.token, null])
    noted(await stack.send(email, { key }));
  const query = `/v1/emails?token=${CANARIES.token}&to=${CANARIES.to}@receiver.example&key=${apiUser}`;
  noted(await stack.api().request('PUT', query, undefined));
  noted(await stack.api().get(`/nothing/${CANARIES.to}@receiver.example?token=${CANARIES.token}`));
  noted(await stack.api().get(`/nothing/${encodeURIComponent(`${CANARIES.to}@receiver.example`)}`));
  noted(await stack.api().get(`/nothing/${apiUser}/${encodeURIComponent(apiUser)}`));
  noted(await stack.api().get(`/v1/emails/${CANARIES.to}@receiver.example`));
  noted(
    await stack.send(email, {
      headers: { 'Cookie': `session=${CANARIES.token}`, 'Proxy-Authorization': CANARIES.token },
    }),
  );
}

/** A relay that quotes its input in replies, as many do. */
async function meetRelayTrouble(): Promise<void> {
  const { sink } = stack;
  const trouble = [
    ['auth', `535 5.7.8 user:${CANARIES.smtpPassword} refused`, 'emails wait'],
    ['rcpt', `451 4.7.1 <${CANARIES.to}@receiver.example> greylisted`, undefined],
    ['rcpt', `550 5.1.1 <${CANARIES.to}@receiver.example> unknown`, undefined],
    ['mail', `451 4.3.0 <${CANARIES.from}@example.com> not now`, 'emails wait'],
    ['content', `554 5.6.0 "${CANARIES.subject}" looks like spam`, undefined],
  ] as const;
  for (const [where, reply, logged] of trouble) {
    let isOver = false;
    const logsBefore = stack.sender.program.output.length;
    sink.script = (stage) => {
      if (stage !== where) return undefined;
      isOver = true;
      return { reply };
    };
    noted(await stack.send(canaryEmail()));
    await until(() => isOver, `the relay answers ${reply}`);
    if (logged !== undefined)
      await until(
        () => stack.sender.program.output.slice(logsBefore).includes(logged),
        'the trouble is logged',
      );
    sink.script = () => undefined;
    await until(
      async () => (await stack.count("SELECT count(*)::int FROM outbox WHERE state <> 'waiting'")) === 0,
      'nothing is due',
    );
  }
}

async function meetRedisTrouble(): Promise<void> {
  await redisProxy.refuse();
  noted(await stack.send(canaryEmail()));
  await until(
    () => stack.gateways[0]!.program.output.includes('a dependency does not answer'),
    'it is logged',
  );
  await redisProxy.heal();
}

/** Stops the apps, because the last lines are written at their end. */
async function stop(): Promise<void> {
  for (const { program } of [...stack.gateways, stack.sender, stack.scheduler]) await program.stop();
}

function lines(): Line[] {
  return stack.logs
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as Line);
}

describe('the log lines of a run with every kind of fault', () => {
  it('are JSON, with a time, a level, the app and its process', () => {
    const all = lines();
    for (const { time, level, app, pid, msg } of all) {
      expect(time).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
      expect(level).toMatch(/^(trace|debug|info|warn|error|fatal)$/);
      expect(msg).not.toBe('');
      expect(pid).toBeGreaterThan(0);
      expect(app).toMatch(/^(gateway|sender|scheduler)$/);
    }
    expect(new Set(all.map((line) => line.app))).toEqual(new Set(['gateway', 'sender', 'scheduler']));
    expect(all.filter((line) => line.level === 'error' || line.level === 'warn')).not.toEqual([]);
  });

  it('are searched by a search that finds other strings', () => {
    expect(linesWith(requestIds[0]!.toUpperCase())).toHaveLength(1);
    // The relay's quoting replies were logged, so it is the redaction that removes the canaries.
    expect(linesWith('auth: 535 ***:*** refused')).not.toEqual([]);
    expect(linesWith('mail: 451 <***@example.com> not now')).not.toEqual([]);
  });

  it.each(Object.entries(CANARIES))('hold nothing of %s', (_what, canary) => {
    expect(linesWith(canary)).toEqual([]);
    expect(linesWith(encodeURIComponent(canary))).toEqual([]);
    expect(linesWith(Buffer.from(canary).toString('base64').slice(0, -4))).toEqual([]);
  });

  it('contain no API key, valid or not', () => {
    for (const secret of [...Object.values(stack.tenant.keys), strangersKey]) {
      expect(linesWith(secret)).toEqual([]);
      expect(linesWith(secret.slice('phk_'.length, -6))).toEqual([]);
    }
  });

  it('contain no local part of an address', () => {
    const addresses = lines()
      .flatMap((line) => [
        ...JSON.stringify(line).matchAll(/[^\s"<>:/\\]+@[a-z0-9.-]+\.(example|com|net)\b/g),
      ])
      .map(([address]) => address);
    expect(addresses.filter((address) => !/^\*+@/.test(address))).toEqual([]);
  });

  it('contain no database password', () => {
    for (const line of lines()) expect(JSON.stringify(line)).not.toMatch(/\/\/[^/\s"[]+:[^/\s"[]+@/);
  });

  it('G6: contain the request id of each answer once', () => {
    const access = lines().filter((line) => line.msg === 'request' && line.app === 'gateway');
    for (const line of access) expect(line.requestId).toMatch(/^[A-Za-z0-9._-]{1,128}$/);
    const logged = access.map((line) => line.requestId);
    for (const id of requestIds) expect(logged.filter((other) => other === id)).toHaveLength(1);
  });

  it('G6: contain the workspace and key of a request, whatever its result', () => {
    const { workspaceId, apiKeyId } = accessOf(toldOf[0]!.requestId);
    expect(workspaceId).toBe(stack.tenant.workspaceId);
    expect(apiKeyId).toMatch(/^aki_/);
    for (const { status, msg, ...line } of lines())
      if (msg === 'request' && status === 400) expect(line).toMatchObject({ workspaceId, apiKeyId });
  });

  it('G6: contain the ids of the emails in an answer, also a replayed one', () => {
    expect(toldOf.map(({ emailIds }) => emailIds.length)).toEqual([1, 1, 1, 2]);
    for (const { requestId, emailIds } of toldOf) expect(accessOf(requestId).emailIds).toEqual(emailIds);
  });

  function accessOf(requestId: string): Line {
    return lines().find((line) => line.msg === 'request' && line.requestId === requestId)!;
  }

  function linesWith(part: string): string[] {
    return stack.logs.split('\n').filter((line) => line.toLowerCase().includes(part.toLowerCase()));
  }
});
