import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import {
  answerAt,
  type AppUnderTest,
  ScriptedSmtpServer,
  type SinkAnswer,
  type SinkScript,
  type SinkStage,
} from '@posthorn/testing';
import { emailIn, type ShownEmail } from './api.ts';
import { Stack, until, validEmail } from './stack.ts';

const CODES = [421, 450, 451, 452, 550, 552, 554] as const;
const WELL: SinkScript = () => undefined;

/** The entry of the timeline, and the class of the reply; `waits`: no entry, the email waits for the relay and loses no attempt. */
type Fate = 'waits' | `DELAYED ${string}` | `BOUNCED ${string}` | `FAILED ${string}`;
const LATER: Fate = 'DELAYED soft_bounce';

/** The outcome for each code and stage, where the text is not significant. In the order of `CODES`. */
const FATES: Readonly<Partial<Record<SinkStage, readonly Fate[]>>> = {
  greeting: ['waits', 'waits', 'waits', 'waits', 'waits', 'waits', 'waits'],
  ehlo: ['waits', 'waits', 'waits', 'waits', 'waits', 'waits', 'waits'],
  // What a permanent refusal does depends on whether the relay serves others at the time, which the spec of the relay chain tests.
  mail: ['waits', 'waits', 'waits', 'waits'],
  rcpt: [LATER, LATER, LATER, LATER, 'BOUNCED hard_bounce', 'BOUNCED mailbox_full', 'FAILED policy'],
  data: ['waits', LATER, LATER, LATER, 'FAILED content', 'FAILED size', 'FAILED content'],
  content: [LATER, LATER, LATER, LATER, 'FAILED content', 'FAILED size', 'FAILED content'],
};
/** Before an email the code does not matter, which the spec of the verdicts tests for each: here, each would cost a back-off of the sender. */
const CODES_BEFORE_ANY_EMAIL = new Set([421, 554]);
const CASES = Object.entries(FATES)
  .flatMap(([stage, fates]) => fates.map((fate, index) => [CODES[index]!, stage as SinkStage, fate] as const))
  .filter(([code, stage]) => !['greeting', 'ehlo'].includes(stage) || CODES_BEFORE_ANY_EMAIL.has(code));
const STAGES = Object.keys(FATES) as SinkStage[];

let relay: ScriptedSmtpServer;
let sender: AppUnderTest;
const stack = Stack.forTests(async () => {
  relay = await ScriptedSmtpServer.start();
  return {
    smtpUrl: () => relay.url,
    // Each email gets a new connection to the relay.
    env: { SMTP_MESSAGES_PER_CONNECTION: '1' },
  };
});
beforeAll(() => {
  sender = stack.sender;
});
afterEach(() => {
  relay.script = WELL;
});
afterAll(() => relay.close());

/** Sends an email while the relay follows a script. */
async function sendTo(script: SinkScript): Promise<{ id: string; to: string; tries: () => number }> {
  const before = relay.connections.total;
  relay.script = script;
  const { id, to } = emailIn(await stack.send());
  return { id, to, tries: () => relay.connections.total - before };
}

async function recorded(id: string): Promise<ShownEmail> {
  await until(async () => (await stack.show(id)).timeline.length > 1, 'something is recorded');
  return stack.show(id);
}

const arrived = (to: string): number => relay.messages.filter((message) => message.to.includes(to)).length;

/** Checks that it waits without losing an attempt, and is sent once when the relay works again. */
async function expectToWait({ id, to, tries }: Awaited<ReturnType<typeof sendTo>>): Promise<void> {
  await until(() => tries() >= 1, 'the relay was tried');
  await until(async () => (await stack.outboxRow(id))?.state === 'ready', 'it was given back');
  expect(await stack.show(id)).toMatchObject({
    status: 'SENT',
    sentAt: null,
    timeline: [{ event: 'ACCEPTED' }],
  });
  expect(await stack.outboxRow(id)).toMatchObject({ attempts: 0 });
  relay.script = WELL;
  // On a slow machine, the back-off for the relay may be half a minute by then.
  await until(async () => (await stack.show(id)).sentAt !== null, 'the relay took it');
  expect((await stack.show(id)).timeline).toMatchObject([
    { event: 'ACCEPTED' },
    { event: 'SENT', attempt: 1, class: 'sent', reply: { code: 250 } },
  ]);
  expect(arrived(to)).toBe(1);
}

/** Checks that it is due again after a minute, by the retry table. */
async function expectRetry(id: string): Promise<void> {
  expect(await stack.outboxRow(id)).toMatchObject({ state: 'waiting', attempts: 1 });
  expect(await stack.dueAfterSeconds(id)).toBeCloseTo(60);
}

describe('S8: when the relay says', () => {
  it.each(CASES)('%i at %s, the email %s', async (code, stage, fate) => {
    const sent = await sendTo(answerAt(stage, { reply: `${code} so it is` }));
    if (fate === 'waits') return expectToWait(sent);
    const shown = await recorded(sent.id);
    const [event, replyClass] = fate.split(' ');
    expect(shown.timeline).toMatchObject([
      { event: 'ACCEPTED' },
      { event, class: replyClass, stage, attempt: 1, reply: { code, text: 'so it is' } },
    ]);
    expect(shown).toMatchObject({ status: event === 'DELAYED' ? 'SENT' : event, sentAt: null });
    if (event === 'DELAYED') await expectRetry(sent.id);
    else expect(await stack.outboxRow(sent.id)).toBeUndefined();
    expect(arrived(sent.to)).toBe(0);
  });
});

describe('S8: a relay that is slow, but not too slow,', () => {
  it.each(STAGES)('at %s gets the email at the first attempt', async (stage) => {
    const { id, to } = await sendTo(answerAt(stage, { delayMs: 600 }));
    expect((await recorded(id)).timeline).toMatchObject([
      { event: 'ACCEPTED' },
      { event: 'SENT', attempt: 1 },
    ]);
    expect(arrived(to)).toBe(1);
  });
});

describe('S8: a relay that', () => {
  it('announces a maximum size is not sent larger emails', async () => {
    const commands = relay.commands.length;
    const { id } = await sendTo(answerAt('ehlo', { reply: '250-scripted\r\n250 SIZE 300' }));
    const shown = await recorded(id);
    expect(shown).toMatchObject({ status: 'FAILED', sentAt: null });
    expect(shown.timeline[1]).toMatchObject({
      event: 'FAILED',
      class: 'size',
      reply: { code: 552, enhancedCode: '5.3.4', text: expect.stringContaining('300') },
    });
    expect(relay.commands.slice(commands).filter((command) => command.startsWith('MAIL'))).toEqual([]);
  });

  it('does not offer SMTPUTF8 is sent nothing of an email that needs it', async () => {
    const { id } = emailIn(await stack.send({ to: 'jürgen@receiver.example' }));
    const shown = await recorded(id);
    expect(shown).toMatchObject({ status: 'FAILED', sentAt: null });
    expect(shown.timeline[1]).toMatchObject({ class: 'content', reply: { enhancedCode: '5.6.7' } });
  });

  it('S19: is a block list’s or full makes nobody suppressed, one that knows no such user does', async () => {
    const replies = {
      blocked: '550 5.7.1 Client host [192.0.2.1] blocked using zen.spamhaus.org',
      mailbox_full: '552 5.2.2 Mailbox full',
      unknown_user: '550 5.1.1 User unknown',
    };
    for (const [replyClass, reply] of Object.entries(replies)) {
      const { id, to } = await sendTo(answerAt('rcpt', { reply }));
      expect((await recorded(id)).timeline[1]).toMatchObject({ class: replyClass });
      const suppressed = await stack.count('SELECT count(*)::int FROM suppressions WHERE email = $1', [to]);
      expect(suppressed).toBe(replyClass === 'unknown_user' ? 1 : 0);
    }
  });

  it('gets emails too fast is sent them more slowly', async () => {
    relay.script = answerAt('content', {
      reply: '454 4.7.0 Throttling failure: Maximum sending rate exceeded',
    });
    await stack.api().post('/v1/emails/batch', { emails: Array.from({ length: 30 }, validEmail) });
    await sender.program.waitForOutput('the relay says that emails arrive too fast');
    const unfinished = `SELECT count(*)::int FROM outbox WHERE state IN ('ready', 'taken')`;
    await until(async () => (await stack.count(unfinished)) === 0, 'all were tried');
  });

  it.each([
    ['asks to slow down', '452 4.2.2 The recipient’s inbox is out of storage space', 'mailbox_full', 1_800],
    [
      'refuses for good what exceeds the limit of a day',
      '550 5.4.5 Daily user sending limit exceeded',
      'rate_limited',
      300,
    ],
  ])('%s is sent the email later', async (_what, reply, replyClass, retryAfterSeconds) => {
    const { id } = await sendTo(answerAt('rcpt', { reply }));
    const shown = await recorded(id);
    expect(shown.status).toBe('SENT');
    expect(shown.timeline[1]).toMatchObject({ event: 'DELAYED', class: replyClass, retryAfterSeconds });
  });
});

/** Timeouts of a sender that notices silence soon. With these, other tests would mistake a pause of the machine for silence. */
const IMPATIENT = {
  SMTP_GREETING_TIMEOUT_MS: '3000',
  SMTP_COMMAND_TIMEOUT_MS: '3000',
  SMTP_SOCKET_TIMEOUT_MS: '3000',
};
const FAULTS: readonly (readonly [string, SinkAnswer, Record<string, string>])[] = [
  ['hangs up', { drop: true }, {}],
  ['falls silent', {}, IMPATIENT],
];

describe.each(FAULTS)('S8: when the relay %s', (_what, answer, env) => {
  beforeAll(async () => {
    await sender.program.stop();
    sender = await stack.startApp('sender', env);
  });

  it.each(['greeting', 'ehlo'] as const)('at %s, the email waits', async (stage) => {
    await expectToWait(await sendTo(answerAt(stage, answer)));
  });

  /** Each of these is of one email alone, so that all of them may fail at once. */
  async function failAt(stage: SinkStage): Promise<ShownEmail> {
    const { id, to } = emailIn(await stack.send({ from: `${stage}@example.com` }));
    const shown = await recorded(id);
    expect(shown).toMatchObject({ status: 'SENT', sentAt: null });
    await expectRetry(id);
    if (stage !== 'content') expect(arrived(to)).toBe(0);
    return shown;
  }

  it('at MAIL, RCPT or DATA, the email is tried again in a minute; after the final dot, it is also marked as a possible duplicate', async () => {
    relay.script = (stage, { from }) => (from === `${stage}@example.com` ? answer : undefined);
    const stages = ['mail', 'rcpt', 'data', 'content'] as const;
    const [last, ...others] = (await Promise.all(stages.map(failAt))).reverse();
    expect(last!.timeline[1]).toMatchObject({ event: 'REPLY_LOST', attempt: 1, duplicatePossible: true });
    expect(others.map(({ timeline }) => timeline[1])).toMatchObject(
      ['data', 'rcpt', 'mail'].map((stage) => ({
        event: 'DELAYED',
        stage,
        attempt: 1,
        error: expect.any(String),
      })),
    );
    for (const { timeline } of others) {
      expect(timeline[1]).not.toHaveProperty('duplicatePossible');
      expect(timeline[1]).not.toHaveProperty('class');
    }
  });
});
