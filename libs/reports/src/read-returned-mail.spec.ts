import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { classifyReply, reportAbout, type ReturnedMail } from '@posthorn/domain';
import fc from 'fast-check';
import { readReturnedMail } from './read-returned-mail.ts';

const SAMPLES = join(import.meta.dirname, '../samples');
const sample = (name: string): Buffer =>
  Buffer.from(readFileSync(join(SAMPLES, `${name}.eml`), 'utf8').replaceAll('\n', '\r\n'));

/** What each sample reports of the email to this recipient, and the class of the quoted reply. */
const EXPECTED: readonly (readonly [name: string, recipient: string, kind: string, replyClass: string])[] = [
  ['gmail-unknown-user', 'nobody@gmail.example', 'failed', 'unknown_user'],
  ['gmail-delayed', 'ada@company.example', 'delayed', 'soft_bounce'],
  ['microsoft-365-unknown-user', 'nobody@contoso.example', 'failed', 'hard_bounce'],
  ['microsoft-365-blocked', 'ada@contoso.example', 'failed', 'blocked'],
  ['yahoo-unknown-user', 'nobody@yahoo.example', 'failed', 'hard_bounce'],
  ['postfix-unknown-user', 'nobody@company.example', 'failed', 'unknown_user'],
  ['postfix-no-such-domain', 'ada@nowhere.invalid', 'failed', 'hard_bounce'],
  ['postfix-expired', 'ada@slow.example', 'failed', 'soft_bounce'],
  ['postfix-delayed', 'ada@slow.example', 'delayed', 'soft_bounce'],
  ['postfix-delivered', 'ada@company.example', 'delivered', 'sent'],
  ['postfix-relayed', 'ada@company.example', 'unrecognised', 'sent'],
  ['forwarded-unknown-user', 'ada@company.example', 'failed', 'unknown_user'],
  ['postfix-alias-unknown-user', 'ada@company.example', 'failed', 'unknown_user'],
  ['exim-unknown-user', 'nobody@company.example', 'failed', 'unknown_user'],
  ['exim-gave-up', 'ada@slow.example', 'failed', 'soft_bounce'],
  ['exim-no-such-domain', 'ada@nowhere.invalid', 'failed', 'unknown_user'],
  ['exim-takes-no-mail', 'ada@nowhere.example', 'failed', 'hard_bounce'],
  ['exim-refused-message', 'ada@company.example', 'failed', 'content'],
  ['exim-plain-unknown-user', 'nobody@company.example', 'failed', 'unknown_user'],
  ['postfix-refused-message', 'ada@company.example', 'failed', 'content'],
  ['opensmtpd-unknown-user', 'nobody@company.example', 'failed', 'unknown_user'],
  ['opensmtpd-mailbox-full', 'ada@company.example', 'failed', 'mailbox_full'],
  ['opensmtpd-no-such-domain', 'ada@nowhere.invalid', 'failed', 'hard_bounce'],
  ['opensmtpd-delayed', 'ada@company.example', 'delayed', 'mailbox_full'],
  ['opensmtpd-expired', 'ada@slow.example', 'failed', 'soft_bounce'],
  ['haraka-unreachable', 'ada@slow.example', 'failed', 'soft_bounce'],
  ['haraka-no-such-domain', 'ada@nowhere.invalid', 'failed', 'hard_bounce'],
  ['qmail-unknown-user', 'nobody@company.example', 'failed', 'unknown_user'],
  ['qmail-refused-recipient', 'nobody@company.example', 'failed', 'unknown_user'],
  ['qmail-refused-message', 'ada@company.example', 'failed', 'content'],
  ['qmail-expired', 'ada@slow.example', 'failed', 'soft_bounce'],
  ['sendmail-sender-listed', 'ada@company.example', 'failed', 'blocked'],
  ['sendmail-too-large', 'ada@company.example', 'failed', 'size'],
  ['postfix-takes-no-mail', 'ada@nowhere.example', 'failed', 'hard_bounce'],
  ['amazon-ses-mailbox-full', 'ada@company.example', 'failed', 'mailbox_full'],
  ['amazon-ses-expired', 'ada@slow.example', 'failed', 'soft_bounce'],
  ['internationalised-unknown-user', 'zoë@xn--bcher-kva.example', 'failed', 'unknown_user'],
  ['yahoo-complaint', 'ada@yahoo.example', 'complaint', 'none'],
  ['validity-complaint', 'ada@company.example', 'complaint', 'none'],
  ['microsoft-complaint', 'ada@outlook.example', 'complaint', 'none'],
  ['opt-out', 'ada@company.example', 'complaint', 'none'],
  ['not-spam', 'ada@company.example', 'unrecognised', 'none'],
  ['vacation', 'ada@company.example', 'unrecognised', 'none'],
];

/** Somebody else's address failed, to which the recipient's mail goes. */
const FORWARDED: readonly string[] = ['forwarded-unknown-user', 'postfix-alias-unknown-user'];

describe('returned mail', () => {
  it.each(EXPECTED)('%s to %s: %s (%s)', async (name, recipient, kind, replyClass) => {
    const report = reportAbout(recipient, await readReturnedMail(sample(name)));
    const read = report.reply === undefined ? 'none' : classifyReply(report.reply, report.stage ?? 'rcpt');
    expect({ kind: report.kind, class: read }).toEqual({ kind, class: replyClass });
    expect(report.isAboutRecipient).toBe(!FORWARDED.includes(name));
  });

  it('has an expectation for every sample', () => {
    const names = readdirSync(SAMPLES).filter((file) => file.endsWith('.eml'));
    expect(EXPECTED.map(([name]) => `${name}.eml`).sort()).toEqual(names.sort());
  });

  it('gives the text of a multi-line reply without the codes of each line', async () => {
    expect(
      reportAbout('nobody@gmail.example', await readReturnedMail(sample('gmail-unknown-user'))),
    ).toMatchObject({
      reportedBy: 'googlemail.com',
      reply: {
        code: 550,
        enhancedCode: '5.1.1',
        text: expect.stringMatching(
          /^The email account that you tried to reach does not exist\. Please try double-checking the/,
        ),
      },
    });
  });

  it('keeps the numbers in a reply that are not its code', async () => {
    const reply = '550-5.7.1 You sent 500 messages an hour;\r\n 550 5.7.1 at most 250 are accepted';
    const raw = sample('postfix-unknown-user').toString();
    const mail = await readReturnedMail(
      Buffer.from(raw.replace(/^(Diagnostic-Code: smtp;).*(?:\r\n .*)*/m, `$1 ${reply}`)),
    );
    expect(reportAbout('nobody@company.example', mail).reply).toEqual({
      code: 550,
      enhancedCode: '5.7.1',
      text: 'You sent 500 messages an hour; at most 250 are accepted',
    });
  });

  it('may have fields with white space before the colon (RFC 5322, section 4.5)', async () => {
    const raw = sample('postfix-unknown-user').toString();
    const spaced = raw.replaceAll(/^(Final-Recipient|Original-Recipient|Action|Status):/gm, '$1 :');
    expect(spaced).not.toBe(raw);
    expect(await readReturnedMail(Buffer.from(spaced))).toEqual(await readReturnedMail(Buffer.from(raw)));
  });

  it.each([
    ['a person who quotes a bounce of qmail', 'qmail-unknown-user', 'Hi. This', 'You wrote:\r\n\r\nHi. This'],
    ['a person who quotes one in the other way', 'qmail-unknown-user', 'Hi. This', '> Hi. This'],
    ['a reason that is only in the copy', 'qmail-unknown-user', '<nobody@', 'Nobody <nobody@'],
    ['a bounce of Exim that names nobody', 'exim-plain-unknown-user', 'X-Failed-Recipients', 'X-Other'],
    ['a bounce of Exim that gives no reason', 'exim-plain-unknown-user', '  nobody@', '  to nobody@'],
  ])('does not take for a bounce: %s', async (_what, name, from, to) => {
    const raw = Buffer.from(sample(name).toString().replace(from, to));
    expect(await readReturnedMail(raw)).toEqual({ type: 'unrecognised', reason: 'no_report' });
  });

  it.each([
    ['a message that somebody passed on', 'X-HmXmrOriginalRecipient', 'X-Other'],
    ['one that only quotes the field', 'Hello', 'X-HmXmrOriginalRecipient: <ada@outlook.example>'],
  ])('does not take for a complaint: %s', async (_what, from, to) => {
    const raw = sample('microsoft-complaint').toString();
    const quoting = raw.replace('X-HmXmrOriginalRecipient', 'X-Other').replace(from, to);
    expect(await readReturnedMail(Buffer.from(quoting))).toEqual({
      type: 'unrecognised',
      reason: 'no_report',
    });
  });

  it('is about each recipient whom a plain bounce names, and the text says of whom it is', async () => {
    const raw = sample('qmail-unknown-user').toString();
    const second = '<Bob@company.example>:\r\nThe mailbox is over quota (#5.2.2)\r\n\r\n--- Below';
    const mail = await readReturnedMail(Buffer.from(raw.replace('--- Below', second)));
    expect(reportAbout('nobody@company.example', mail).reply).toMatchObject({ enhancedCode: '5.1.1' });
    expect(reportAbout('bob@company.example', mail).reply).toEqual({
      code: 554,
      enhancedCode: '5.2.2',
      text: 'The mailbox is over quota (#5.2.2)',
    });
    expect(reportAbout('b@company.example', mail)).toMatchObject({ isAboutRecipient: false });
  });

  it.each([
    ['in a report of ASCII (RFC 6533, section 3)', String.raw`zo\x{EB}@b\x{FC}cher.example`, true],
    ['of a character that there is not', String.raw`zo\x{EB}\x{FFFFFF}@bücher.example`, false],
  ])('names an international address %s', async (_what, written, isAboutRecipient) => {
    const raw = sample('internationalised-unknown-user').toString();
    const mail = await readReturnedMail(Buffer.from(raw.replaceAll('zoë@bücher.example', () => written)));
    expect(reportAbout('zoë@xn--bcher-kva.example', mail)).toMatchObject({
      kind: 'failed',
      isAboutRecipient,
    });
  });

  it('is parsed when only its beginning is there', async () => {
    for (const name of ['postfix-unknown-user', 'yahoo-complaint']) {
      const raw = sample(name);
      const end = raw.indexOf('Your receipt', raw.indexOf('rfc822'));
      expect(await readReturnedMail(raw.subarray(0, end))).toEqual(await readReturnedMail(raw));
    }
  });
});

describe('hostile returned mail', () => {
  const statusMail = (status: string): Buffer =>
    Buffer.from(
      `Content-Type: multipart/report; boundary=b\r\n\r\n--b\r\nContent-Type: message/delivery-status\r\n\r\n${status}\r\n--b--\r\n`,
    );
  const unrecognised = expect.objectContaining({ type: 'unrecognised' });

  it.each<[string, Buffer]>([
    ['nothing', Buffer.alloc(0)],
    ['NULs', Buffer.alloc(100_000)],
    ['one line without an end', Buffer.alloc(262_144, 'a')],
    ['a header without an end', Buffer.from(`Subject: ${'a '.repeat(130_000)}`)],
    ['many headers', Buffer.from('X: y\r\n'.repeat(40_000))],
    [
      'parts in parts',
      Buffer.from(
        Array.from(
          { length: 2_000 },
          (_, n) => `Content-Type: multipart/mixed; boundary=b${n}\r\n\r\n--b${n}\r\n`,
        ).join(''),
      ),
    ],
    [
      'many parts',
      Buffer.from(`Content-Type: multipart/mixed; boundary=b\r\n\r\n${'--b\r\n\r\nx\r\n'.repeat(25_000)}`),
    ],
    ['a report without a status', statusMail('')],
    [
      'a status without an action',
      statusMail('Reporting-MTA: dns; x\r\n\r\nFinal-Recipient: rfc822; a@b.example'),
    ],
    ['an action that there is not', statusMail('Action: exploded\r\nStatus: 5.1.1')],
    ['many groups', statusMail('A: b\r\n\r\n'.repeat(30_000))],
    ['many empty lines', statusMail('\r\n'.repeat(130_000))],
    ['many short lines', statusMail('a\n'.repeat(130_000))],
    ['an HTML that is hard to read', Buffer.from(`Content-Type: text/html\r\n\r\n${'<'.repeat(260_000)}`)],
    ['open tags', Buffer.from(`Content-Type: text/html\r\n\r\n${'<a href="'.repeat(29_000)}`)],
    ['entities', Buffer.from(`Content-Type: text/html\r\n\r\n${'&#'.repeat(130_000)}`)],
    ['an encoded word', Buffer.from(`Subject: ${'=?utf-8?q?a'.repeat(20_000)}\r\n\r\n`)],
    ['an address list', Buffer.from(`To: ${'(<a@b>,"'.repeat(30_000)}\r\n\r\n`)],
  ])('is unrecognised and costs little: %s', async (_what, raw) => {
    const before = process.threadCpuUsage();
    expect(await readReturnedMail(raw)).toEqual(unrecognised);
    expect(process.threadCpuUsage(before).user / 1_000).toBeLessThan(2_000);
  });

  it('gives only text that can be displayed', async () => {
    const mail = await readReturnedMail(
      statusMail(
        `Reporting-MTA: dns; a\u0000\u202eb\u0007${'c'.repeat(2_000)}\r\n\r\nAction: failed\r\nStatus: 5.1.1\r\nDiagnostic-Code: smtp; 550 \u0000x${'y'.repeat(5_000)}`,
      ),
    );
    const text = JSON.stringify(mail);
    expect(mail.type).toBe('delivery');
    expect(text).not.toMatch(/\\u0000|\u202e|\\u0007/);
    expect(text.length).toBeLessThan(1_500);
  });

  it('never makes the parser reject', async () => {
    const names = ['postfix-unknown-user', 'gmail-unknown-user', 'yahoo-complaint'] as const;
    const texts = names.map((name) => sample(name));
    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom(...texts),
        fc.array(fc.tuple(fc.nat(3_000), fc.uint8Array({ maxLength: 8 })), { maxLength: 12 }),
        async (raw, changes) => {
          const changed = Buffer.from(raw);
          for (const [at, bytes] of changes) changed.set(bytes, Math.min(at, changed.length - bytes.length));
          const mail: ReturnedMail = await readReturnedMail(changed);
          expect(['delivery', 'feedback', 'unrecognised']).toContain(mail.type);
          expect(reportAbout('ada@example.net', mail).kind).toBeDefined();
        },
      ),
      { numRuns: 500 },
    );
  });
});
