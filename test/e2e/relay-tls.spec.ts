import { afterAll, describe, expect, it } from '@jest/globals';
import { answerAt, ScriptedSmtpServer, SmtpSink } from '@posthorn/testing';
import { emailIn } from './api.ts';
import { Stack, until } from './stack.ts';

const ALARM = 'ALARM: the relay refuses us or cannot be reached; emails leave through another one, or wait';

/** Two relays in order of preference: one with broken TLS, and one with a self-signed certificate. */
describe('relays whose TLS does not meet the requirement', () => {
  let broken: ScriptedSmtpServer;
  let untrusted: SmtpSink;
  const stack = Stack.forTests(async () => {
    broken = await ScriptedSmtpServer.start(answerAt('starttls', { reply: '220 go on\r\nthis is no TLS' }), {
      extensions: ['STARTTLS'],
    });
    untrusted = await SmtpSink.start({ starttls: true });
    return {
      smtpUrl: () => `${broken.url} ${untrusted.url}`,
      env: { SMTP_TLS: 'verified' },
    };
  });
  afterAll(() => Promise.all([broken.close(), untrusted.close()]));

  it('are sent nothing, the email loses no attempt, both raise alarms, and it is sent when the requirement is lowered', async () => {
    const { id, to } = emailIn(await stack.send());
    const alarms = (): number => stack.logs.split(ALARM).length - 1;
    await until(() => alarms() >= 2, 'both relays are found wanting');
    for (const { url } of [broken, untrusted]) expect(stack.logs).toContain(url.replace('smtp://', ''));
    expect(await stack.show(id)).toMatchObject({
      status: 'SENT',
      sentAt: null,
      timeline: [{ event: 'ACCEPTED' }],
    });
    expect(await stack.outboxRow(id)).toMatchObject({ attempts: 0 });
    expect([broken.messages.length, untrusted.count]).toEqual([0, 0]);

    await stack.sender.program.stop();
    await stack.startApp('sender', { SMTP_TLS: 'required' });
    await until(async () => (await stack.show(id)).sentAt !== null, 'a relay took it');
    expect(untrusted.messages.map((message) => message.to)).toEqual([[to]]);
    expect((await stack.show(id)).timeline).toMatchObject([
      { event: 'ACCEPTED' },
      { event: 'SENT', attempt: 1 },
    ]);
    expect(broken.messages).toEqual([]);
  });
});
