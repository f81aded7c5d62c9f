import { describe, expect, it } from '@jest/globals';
import type { SinkMessage } from '@posthorn/testing';
import { filledCorpus } from '../../tools/corpus.mjs';
import { type AcceptedEmail, emailIn } from './api.ts';
import { decoded, headerValues, parseMail, withLf } from './mail.ts';
import { newRecipient, Stack } from './stack.ts';

/** RFC 5322, section 2.1.1, without the CRLF. */
const MAX_LINE_OCTETS = 998;

const mails = filledCorpus();

const stack = Stack.forTests();

interface Arrived {
  readonly to: string;
  readonly accepted: AcceptedEmail;
  readonly message: SinkMessage;
}

async function deliver(mail: { subject: string; html: string; text?: string }): Promise<Arrived> {
  const to = newRecipient();
  const answer = await stack.send({
    from: 'Posthorn <corpus@example.com>',
    to: `Zoë Müller <${to}>`,
    replyTo: 'support@example.com',
    settings: { trackClicks: false },
    ...mail,
  });
  return { to, accepted: emailIn(answer), message: await stack.onlyMailTo(to) };
}

async function expectSound({ to, accepted, message }: Arrived, subject: string): Promise<void> {
  expect(message).toMatchObject({ from: 'corpus@example.com', to: [to] });
  expect(await parseMail(message)).toMatchObject({
    from: { name: 'Posthorn', address: 'corpus@example.com' },
    to: [{ name: 'Zoë Müller', address: to }],
    replyTo: [{ name: '', address: 'support@example.com' }],
    subject,
    messageId: `<${accepted.messageId}>`,
    attachments: [],
  });
  expect(headerValues(message, 'MIME-Version')).toEqual(['1.0']);
  expect(headerValues(message, 'Content-Type')[0]).toMatch(/^multipart\/alternative;/);
  expectSoundLines(message.raw);
}

function expectSoundLines(raw: Buffer): void {
  const text = raw.toString('latin1');
  expect(text).not.toMatch(/\r(?!\n)|(?<!\r)\n/);
  expect(text.endsWith('\r\n')).toBe(true);
  const longest = Math.max(...text.split('\r\n').map((line) => line.length));
  expect(longest).toBeLessThanOrEqual(MAX_LINE_OCTETS);
  // Mail servers must not have to re-encode anything: not all of them support more than ASCII.
  expect(text).not.toMatch(/[^\r\n\t -~]/);
}

describe('the corpus of real mails', () => {
  it('has eleven mails', () => expect(mails).toHaveLength(11));

  it.each(mails)('$name arrives once and unchanged, with its own text', async ({ subject, html, text }) => {
    const arrived = await deliver({ subject, html, text });
    await expectSound(arrived, subject);
    const mail = await parseMail(arrived.message);
    expect(decoded(mail.html)).toBe(withLf(html));
    expect(decoded(mail.text)).toBe(withLf(text));
  });

  it.each(mails)('$name arrives once and unchanged, with a text made of it', async ({ subject, html }) => {
    const arrived = await deliver({ subject, html });
    await expectSound(arrived, subject);
    const mail = await parseMail(arrived.message);
    expect(decoded(mail.html)).toBe(withLf(html));
    expectMadeText(withLf(mail.text ?? ''), html);
  });
});

function expectMadeText(text: string, html: string): void {
  expect(text.trim().length).toBeGreaterThan(100);
  expect(text).not.toMatch(/<\/?(p|div|table|td|a|style|html|body)\b/i);
  for (const [, link] of html.matchAll(/<a [^>]*href="(https:[^"]+)"/g)) {
    expect(text).toContain(link!.replaceAll('&amp;', '&'));
  }
}
