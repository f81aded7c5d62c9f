import { describe, expect, it } from '@jest/globals';
import { emailIn } from './api.ts';
import { decoded, headerValues, parseMail, withLf } from './mail.ts';
import { newRecipient, Stack } from './stack.ts';
import { toSecond } from './times.ts';

const stack = Stack.forTests();

describe('POST /v1/emails: the mail', () => {
  it('S5, S7, S9: arrives once, with the requested envelope and headers', async () => {
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

  it('S5: has the display name of `from` when there is no `fromName`', async () => {
    const { to } = emailIn(await stack.send({ from: 'Name Within <sales@example.com>' }));
    expect((await parseMail(await stack.onlyMailTo(to))).from).toEqual({
      name: 'Name Within',
      address: 'sales@example.com',
    });
  });

  it.each([
    ['a flag of a region', '\u{1f3f4}\u{e0067}\u{e0062}\u{e0065}\u{e006e}\u{e0067}\u{e007f} Three Lions'],
    ['marks of direction', '\u05d0\u05d1\u05d2!\u200f (1984)\u200e'],
    ['the form of an ideograph', '\u845b\u{e0100}\u57ce'],
  ])('S5: has a display name with permitted invisible characters unchanged: %s', async (_what, fromName) => {
    const { to } = emailIn(await stack.send({ fromName }));
    expect((await parseMail(await stack.onlyMailTo(to))).from?.name).toBe(fromName);
  });

  it('S7: has up to five Reply-To addresses', async () => {
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

  it('S4: is sent to an internationalised domain in punycode', async () => {
    const local = newRecipient().split('@')[0];
    const { to } = emailIn(await stack.send({ to: `${local}@bücher.example` }));
    expect(to).toBe(`${local}@xn--bcher-kva.example`);
    expect(headerValues(await stack.onlyMailTo(to), 'To')).toEqual([to]);
  });

  it('has the given HTML unchanged', async () => {
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

  it('S16: has a text made from the HTML, with its links, when none was given', async () => {
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
