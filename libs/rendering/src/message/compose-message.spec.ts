import { isAscii } from 'node:buffer';
import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import PostalMime, { type Email } from 'postal-mime';
import { composeMessage, type MessageSource } from './compose-message.ts';
import { UncomposableMessage } from './uncomposable-message.ts';

const SOURCE: MessageSource = {
  id: 'trs_01h455vb4pex5vsknk084sn02q',
  messageId: '01h455vb4pex5vsknk084sn02q@example.com',
  date: new Date('2026-03-04T05:06:07.890Z'),
  from: { address: 'sender@example.com', name: 'Sender' },
  to: { address: 'receiver@example.org' },
  replyTo: [],
  subject: 'Hello',
  html: '<p>Hello</p>\n',
  text: 'Hello\n',
};

const compose = (change: Partial<MessageSource>): Buffer => composeMessage({ ...SOURCE, ...change });
const parse = (message: Buffer): Promise<Email> => PostalMime.parse(message);
const withLf = (text: string | undefined): string => (text ?? '').replace(/\r\n?/g, '\n');
/** The parser wrongly counts the line break before a boundary as content (RFC 2046), and drops a byte order mark. */
const isReadAs = (read: string | undefined, source: string): boolean => {
  const expected = withLf(source).replace(/^\uFEFF/, '');
  return [expected, `${expected}\n`].includes(withLf(read));
};
const linesOf = (message: Buffer): string[] => message.toString('latin1').split('\r\n');
const headOf = (message: Buffer): string => message.toString('utf8').split('\r\n\r\n')[0]!;

const CONTROL = /\p{Cc}/u;
const headerText = fc.string({ unit: 'binary', maxLength: 200 }).filter((text) => !CONTROL.test(text));
const asciiText = fc.string({ unit: 'grapheme-ascii', maxLength: 200 });
/** Parsers trim header values, so the compared values must have no whitespace around them. */
const subjects = fc.oneof(headerText, asciiText).map((text) => text.trim());
const addresses = fc
  .tuple(fc.stringMatching(/^[a-z0-9][a-z0-9.+-]{0,20}[a-z0-9]$/), fc.domain())
  .map(([local, domain]) => `${local}@${domain}`);
const mailboxes = fc.record({ address: addresses, name: subjects.filter((name) => name !== '') });
const bodies = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 2_000 }),
  fc.string({
    unit: fc.constantFrom('a', ' ', '\t', '\n', '\r', '.', '=', 'From ', 'é', '😀'),
    maxLength: 500,
  }),
  fc.string({ unit: 'grapheme-ascii', maxLength: 3_000 }),
);

describe('composeMessage', () => {
  it('writes these exact bytes for this source', () => {
    expect(compose({ replyTo: [{ address: 'help@example.com' }] }).toString()).toBe(
      [
        'From: Sender <sender@example.com>',
        'To: receiver@example.org',
        'Reply-To: help@example.com',
        'Subject: Hello',
        'Date: Wed, 04 Mar 2026 05:06:07 +0000',
        'Message-ID: <01h455vb4pex5vsknk084sn02q@example.com>',
        'MIME-Version: 1.0',
        'Content-Type: multipart/alternative;',
        ' boundary="=_trs_01h455vb4pex5vsknk084sn02q"',
        '',
        '--=_trs_01h455vb4pex5vsknk084sn02q',
        'Content-Type: text/plain; charset=utf-8',
        'Content-Transfer-Encoding: 7bit',
        '',
        'Hello',
        '',
        '--=_trs_01h455vb4pex5vsknk084sn02q',
        'Content-Type: text/html; charset=utf-8',
        'Content-Transfer-Encoding: 7bit',
        '',
        '<p>Hello</p>',
        '',
        '--=_trs_01h455vb4pex5vsknk084sn02q--',
        '',
      ].join('\r\n'),
    );
  });

  it('writes no Reply-To without addresses, and no encoded word for an empty subject', () => {
    expect(headOf(compose({}))).not.toContain('Reply-To');
    expect(headOf(compose({ subject: '' }))).toMatch(/^Subject:\r$/m);
  });

  it('writes an international local part as it is, and the whole message after it', async () => {
    const message = compose({ to: { address: 'jörg@example.org' } });
    expect(headOf(message)).toContain('\r\nTo: jörg@example.org\r\n');
    expect(isReadAs((await parse(message)).html, SOURCE.html)).toBe(true);
    expect(message.toString()).toMatch(/--\r\n$/);
  });

  it('begins a header with an address that is longer than a line, so that no line is empty', () => {
    const address = `${'x'.repeat(64)}@example.com`;
    expect(headOf(compose({ to: { address } }))).toContain(`\r\nTo: ${address}\r\n`);
  });

  it('is parsed by an independent parser into what was composed, for any text', async () => {
    await fc.assert(
      fc.asyncProperty(
        mailboxes,
        mailboxes,
        fc.array(mailboxes, { maxLength: 5 }),
        subjects,
        bodies,
        bodies,
        async (from, to, replyTo, subject, html, text) => {
          const email = await parse(compose({ from, to, replyTo, subject, html, text }));
          expect(email.from).toEqual(from);
          expect(email.to).toEqual([to]);
          expect(email.replyTo ?? []).toEqual(replyTo);
          expect(email.subject ?? '').toBe(subject);
          expect(isReadAs(email.html, html)).toBe(true);
          expect(isReadAs(email.text, text)).toBe(true);
        },
      ),
      { numRuns: 300 },
    );
  });

  it('limits every line: CRLF only, 78 characters of ASCII in the header, 998 in the body', () => {
    fc.assert(
      fc.property(mailboxes, headerText, bodies, (from, subject, html) => {
        const message = compose({ from, subject, html });
        const [head, ...cooldown] = message.toString('latin1').split('\r\n\r\n');
        expect(isAscii(Buffer.from(head!, 'latin1'))).toBe(true);
        for (const line of head!.split('\r\n')) {
          if (!line.includes('@')) expect(line.length).toBeLessThanOrEqual(78);
          expect(line.trim()).not.toBe('');
        }
        for (const line of cooldown.join('\r\n\r\n').split('\r\n')) {
          expect(line.length).toBeLessThanOrEqual(998);
          expect(line).not.toMatch(/[\r\n]/);
        }
      }),
    );
  });

  it('limits lines with encoded words to 76 characters (RFC 2047, section 2)', () => {
    const long = 'ü'.repeat(200);
    const message = compose({ subject: long, from: { address: 'a@example.com', name: long } });
    const encoded = linesOf(message).filter((line) => line.includes('=?UTF-8?'));
    expect(Math.max(...encoded.map((line) => line.length))).toBeLessThanOrEqual(76);
  });

  it('folds a long subject of plain words without changing it', async () => {
    const subject = 'word '.repeat(150).trim();
    const message = compose({ subject });
    expect(headOf(message)).toContain('\r\n word word');
    expect(Math.max(...linesOf(message).map((line) => line.length))).toBeLessThanOrEqual(78);
    expect((await parse(message)).subject).toBe(subject);
  });

  it.each([' Your order', 'Your order ', '  Your order  '])(
    'writes the subject and name %j without the spaces around it, which nobody sees, instead of encoding it for them',
    (text) => {
      const head = headOf(compose({ subject: text, from: { address: 'a@example.com', name: text } }));
      expect(head).toContain('\r\nSubject: Your order\r\n');
      expect(head).toMatch(/^From: Your order <a@example\.com>\r\n/);
    },
  );

  it('writes a subject with several spaces between words unencoded, and folds it only at single ones', async () => {
    const subject = 'Your order has been shipped.  Thank you.  '.repeat(4).trim();
    const head = headOf(compose({ subject }));
    expect(head).toContain('\r\nSubject: Your order has been shipped.  Thank you.  Your');
    expect(head.replaceAll('\r\n ', ' ')).toContain(`\r\nSubject: ${subject}\r\n`);
    expect((await parse(compose({ subject }))).subject).toBe(subject);
  });

  it.each(['x'.repeat(998), `a ${'x'.repeat(996)}`])(
    'carries a subject with a very long word: %s',
    async (subject) => {
      const message = compose({ subject });
      expect(Math.max(...linesOf(message).map((line) => line.length))).toBeLessThanOrEqual(78);
      expect((await parse(message)).subject).toBe(subject);
    },
  );

  it('S20: adds List-Unsubscribe, and List-Unsubscribe-Post where the link is https', () => {
    const headsOf = (unsubscribeUrl: string): string[] =>
      headOf(compose({ unsubscribeUrl }))
        .split('\r\n')
        .filter((line) => line.startsWith('List-'));
    const url = `https://example.com/unsubscribe/${'x'.repeat(200)}`;
    expect(headsOf(url)).toEqual([
      `List-Unsubscribe: <${url}>`,
      'List-Unsubscribe-Post: List-Unsubscribe=One-Click',
    ]);
    expect(headsOf('http://localhost:3000/x')).toEqual(['List-Unsubscribe: <http://localhost:3000/x>']);
    for (const evil of ['https://a/\r\nBcc: b@c.example', 'https://a/>b', 'https://a/ b', 'ftp://a', ''])
      expect(() => compose({ unsubscribeUrl: evil })).toThrow(UncomposableMessage);
  });

  it('S20: adds the address to unsubscribe by mail after the link, in a line of its own', () => {
    const unsubscribeUrl = `https://example.com/unsubscribe/${'x'.repeat(54)}`;
    const unsubscribeMailto = `mailto:unsub-${'1'.repeat(52)}@bounces.example.com?subject=unsubscribe`;
    expect(headOf(compose({ unsubscribeUrl, unsubscribeMailto }))).toContain(
      `List-Unsubscribe: <${unsubscribeUrl}>,\r\n <${unsubscribeMailto}>\r\nList-Unsubscribe-Post: `,
    );
    expect(headOf(compose({ unsubscribeMailto }))).not.toContain('List-');
    for (const evil of ['mailto:a@b\r\nBcc: c@d', 'mailto:a@b>', 'mailto:a b', 'https://a', ''])
      expect(() => compose({ unsubscribeUrl, unsubscribeMailto: evil })).toThrow(UncomposableMessage);
  });

  it('adds Feedback-ID and Auto-Submitted where the source asks for them', () => {
    const plain = headOf(compose({}));
    expect([plain.includes('Feedback-ID'), plain.includes('Auto-Submitted')]).toEqual([false, false]);
    const head = headOf(compose({ feedbackId: 'tpl_1:wrk_2:posthorn', isAutoGenerated: true }));
    expect(head).toContain('\r\nFeedback-ID: tpl_1:wrk_2:posthorn\r\nAuto-Submitted: auto-generated\r\n');
    for (const evil of ['a:b:c:d:posthorn', 'a::posthorn', 'posthorn\r\nBcc: a@b', 'mail', ''])
      expect(() => compose({ feedbackId: evil })).toThrow(UncomposableMessage);
  });

  it('gives the same bytes for the same source', () => {
    const change = { subject: 'Grüße 😀', html: '<p>é</p>'.repeat(500), text: '漢字'.repeat(500) };
    expect(compose(change).equals(compose(change))).toBe(true);
  });

  it('separates its parts by a boundary that occurs in no part, not even in one that imitates it', async () => {
    const html = `<p>--=_${SOURCE.id}--</p>\n--=_${SOURCE.id}\nContent-Type: text/html\n\nforged`;
    const message = compose({ html, text: html });
    expect(message.toString().split(`--=_${SOURCE.id}`)).toHaveLength(4);
    expect(isReadAs((await parse(message)).html, html)).toBe(true);
  });

  it('sends every line break of a part as CRLF', () => {
    const message = compose({ text: 'a\nb\rc\r\nd\n\re' }).toString('latin1');
    expect(message).toContain('\r\n\r\na\r\nb\r\nc\r\nd\r\n\r\ne\r\n--=_');
  });

  it.each(['\r\nBcc: x@example.net', '\n', '\r', '\0', '\t', '\x7f', '\x85'])(
    'refuses %j in any header value',
    (evil) => {
      const bad = `a${evil}b`;
      const address = `${bad}@example.com`;
      const changes: Partial<MessageSource>[] = [
        { subject: bad },
        { id: bad },
        { messageId: address },
        { messageId: `a@b${evil}.c` },
        { from: { address: 'a@example.com', name: bad } },
        { from: { address } },
        { to: { address: 'a@example.com', name: bad } },
        { to: { address: `a@example${evil}.com` } },
        { replyTo: [{ address: 'a@example.com', name: bad }] },
        { replyTo: [{ address }] },
        { to: { address: `"${bad}"@example.com` } },
      ];
      for (const change of changes) expect(() => compose(change)).toThrow(UncomposableMessage);
    },
  );

  it('refuses a message id that is not ASCII', () => {
    expect(() => compose({ messageId: 'jörg@example.com' })).toThrow(UncomposableMessage);
  });

  it('refuses an invalid date', () => {
    expect(() => compose({ date: new Date(Number.NaN) })).toThrow(UncomposableMessage);
  });

  const corpus = new URL('../../../../test/corpus/email-templates/', import.meta.url);
  const mails = readdirSync(corpus, { withFileTypes: true }).filter((entry) => entry.isDirectory());
  it('is tested with eleven real mails', () => expect(mails).toHaveLength(11));
  it.each(mails.map((entry) => entry.name))('carries the real mail "%s" unchanged', async (name) => {
    const html = readFileSync(new URL(`${name}/content.html`, corpus), 'utf8');
    const text = readFileSync(new URL(`${name}/content.txt`, corpus), 'utf8');
    const email = await parse(compose({ html, text, subject: name }));
    expect(isReadAs(email.html, html)).toBe(true);
    expect(isReadAs(email.text, text)).toBe(true);
  });
});
