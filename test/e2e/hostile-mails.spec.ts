import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { ScriptedSmtpServer, type SinkMessage } from '@posthorn/testing';
import PostalMime, { type Email } from 'postal-mime';
import { type Answer, emailIn } from './api.ts';
import { withLf } from './mail.ts';
import { validEmail, Stack } from './stack.ts';
import { validTemplate, templateIn } from './templates.ts';

const VICTIM = 'victim@evil.example';
/** A valid mailbox. */
const MAILBOX_HINT = `x <${VICTIM}>`;

/** Texts that try to inject headers or recipients, and texts that are merely unusual. */
const TEXTS: readonly string[] = [
  ...['\r\n', '\n', '\r', '\r\n\r\n', '\u0085', '\u2028', '\u2029', '\v', '\f', '\0'].map(
    (end) => `x${end}Bcc: ${VICTIM}`,
  ),
  `x\r\n.\r\nMAIL FROM:<${VICTIM}>\r\nRCPT TO:<${VICTIM}>\r\nDATA\r\n`,
  `x%0d%0aBcc: ${VICTIM}`,
  `x\\r\\nBcc: ${VICTIM}`,
  `=?utf-8?q?x=0D=0ABcc:_${VICTIM}?=`,
  `=?utf-8?b?DQpCY2M6IHZpY3RpbUBldmlsLmV4YW1wbGU=?=`,
  `x\u560d\u560aBcc: ${VICTIM}`,
  `x" <${VICTIM}>, "y`,
  MAILBOX_HINT,
  `x, ${VICTIM}`,
  `x; ${VICTIM}`,
  `x (comment) ${VICTIM}`,
  `group: ${VICTIM};`,
  `Bcc: ${VICTIM}`,
  '\\',
  '"',
  '\\"',
  '<>',
  '.',
  '..',
  'a  b   c',
  'a\tb',
  '\u202eelpmaxe',
  'a\u200bb',
  '\ufeffa',
  '\u{1f468}\u200d\u{1f469}\u200d\u{1f467}',
  'Grüße 漢字 עברית',
  'é'.normalize('NFD').repeat(20),
  'x'.repeat(255),
  '漢'.repeat(250),
  '=?',
  '?=',
  '=20',
  '--',
  'From ada',
  '{{name}}',
  '<script>alert(1)</script>',
];

type Field =
  'subject' | 'fromName' | 'from' | 'to' | 'replyTo' | 'html' | 'text' | 'previewText' | 'variables';

/** Where such a text is put: alone, as a plain and as a quoted display name, in contents, and in variables of a template. */
const PLACES: Readonly<Record<string, (text: string, to: string) => Partial<Record<Field, string>>>> = {
  'subject': (subject) => ({ subject }),
  'fromName': (fromName) => ({ fromName }),
  'name in from': (text) => ({ from: `${text} <sender@example.com>` }),
  'name in to': (text, to) => ({ to: `${text} <${to}>` }),
  'quoted name in to': (text, to) => ({ to: `"${text}" <${to}>` }),
  'name in replyTo': (text) => ({ replyTo: `${text} <reply@example.org>` }),
  'replyTo': (replyTo) => ({ replyTo }),
  'html': (text) => ({ html: `<p>Hello</p>\r\n${text}` }),
  'text': (text) => ({ text: `Hello\r\n${text}` }),
  'previewText': (previewText) => ({ previewText }),
  'variables': (variables) => ({ variables }),
  'to': (to) => ({ to }),
};

/** Addresses, with the one expected in RCPT; null: it is refused. */
const ADDRESSES: readonly (readonly [string, string | null])[] = [
  ["o'brien+tag@receiver.example", "o'brien+tag@receiver.example"],
  ['!#$%&*+-/=?^_`{|}~@receiver.example', '!#$%&*+-/=?^_`{|}~@receiver.example'],
  ['Ada@RECEIVER.example', 'Ada@receiver.example'],
  ['ada@bücher.example', 'ada@xn--bcher-kva.example'],
  ['ada@漢字.example', 'ada@xn--p8s937b.example'],
  ['jürgen@receiver.example', 'jürgen@receiver.example'],
  ['"Lovelace, Ada" <lovelace@receiver.example>', 'lovelace@receiver.example'],
  ['<bare@receiver.example>', 'bare@receiver.example'],
  [`ada@receiver.example,${VICTIM}`, null],
  [`ada@receiver.example ${VICTIM}`, null],
  [`ada@receiver.example>\r\nRCPT TO:<${VICTIM}`, null],
  [`ada@receiver.example> SIZE=1`, null],
  [`<ada@receiver.example> <${VICTIM}>`, null],
  [`@relay.example:ada@receiver.example`, null],
  [`${VICTIM}%receiver.example`, `${VICTIM}%receiver.example`],
  ['ada@receiver.example\0', null],
  ['ada@[192.0.2.1]', null],
  ['ada@localhost', null],
  ['"ada"@receiver.example', null],
  ['ada@@receiver.example', null],
  ['.ada@receiver.example', null],
  ['ada..b@receiver.example', null],
  ['a\u200bda@receiver.example', null],
  [`${'x'.repeat(65)}@receiver.example`, null],
  ['postmaster', null],
  ['', null],
];

/** A text with line breaks, as it appears in a subject. */
const inOneLine = (text: string): string =>
  text
    .replace(/[\p{Cc}\p{Zl}\p{Zp}]+/gu, ' ')
    .replace(/ {2,}/g, ' ')
    .trim();

interface Case {
  readonly what: string;
  readonly fields: Partial<Record<Field, string>>;
  /** The only address that RCPT may name, if the email is accepted; undefined: the given one. */
  readonly recipient?: string | null;
}

const CASES: readonly Case[] = [
  ...Object.entries(PLACES).flatMap(([place, fieldsOf], row) =>
    TEXTS.filter((text) => text !== MAILBOX_HINT || (place !== 'to' && place !== 'replyTo')).map(
      (text, column) => {
        const to = `case-${row}-${column}@receiver.example`;
        const fields = { to, ...fieldsOf(text, to) };
        // No text of the list is a valid address.
        return {
          what: `${place} ${JSON.stringify(text.slice(0, 60))}`,
          fields,
          recipient: place === 'to' ? null : to,
        };
      },
    ),
  ),
  ...ADDRESSES.map(([to, recipient]) => ({ what: `to ${JSON.stringify(to)}`, fields: { to }, recipient })),
];

describe('strange names, headers and addresses', () => {
  let relay: ScriptedSmtpServer;
  let ordinaryNames: string[];
  const answers = new Map<Case, Answer>();
  const stack = Stack.forTests(async () => {
    relay = await ScriptedSmtpServer.start(undefined, {
      extensions: ['PIPELINING', '8BITMIME', 'SMTPUTF8', 'SIZE'],
    });
    return { smtpUrl: () => relay.url };
  });
  beforeAll(async () => {
    const ordinary = emailIn(await stack.send({ replyTo: 'reply@example.org' }));
    const template = await newTemplate();
    for (const each of CASES) answers.set(each, await stack.api().post('/v1/emails', bodyOf(each, template)));
    await stack.settled();
    ordinaryNames = headerNames(messageOf(ordinary.messageId));
  });
  afterAll(() => relay.close());

  /** The name of a template that prints a variable in dangerous places. */
  async function newTemplate(): Promise<string> {
    const said = { subject: 'Hello {{said}}', html: '<p>Hello {{said}}</p>', previewText: '{{said}}' };
    const template = validTemplate({ ...said, from: 'sender@example.com' });
    const editor = stack.apiAs(stack.tenant.keys.editor);
    return templateIn(await editor.post('/v1/templates', template)).name;
  }

  function bodyOf({ fields: { variables, ...fields } }: Case, template: string): object {
    return variables === undefined
      ? { ...validEmail(), ...fields }
      : { template, to: fields.to, variables: { said: variables } };
  }

  const head = (message: SinkMessage): string => message.raw.toString('utf8').split('\r\n\r\n')[0]!;
  const headerNames = (message: SinkMessage): string[] =>
    [...head(message).matchAll(/^([^\s:]+):/gm)].map(([, name]) => name!);
  const utf8 = (latin1: string): string => Buffer.from(latin1, 'latin1').toString('utf8');

  function messageOf(messageId: string): SinkMessage {
    const found = relay.messages.filter((message) => head(message).includes(`Message-ID: <${messageId}>`));
    if (found.length !== 1) throw new Error(`${found.length} messages have this Message-ID`);
    return found[0]!;
  }

  it('S4: are more than a hundred, some refused and some accepted', () => {
    const taken = [...answers.values()].filter(({ status }) => status === 200).length;
    expect(CASES.length).toBeGreaterThan(450);
    expect(taken).toBeGreaterThan(100);
    expect(CASES.length - taken).toBeGreaterThan(100);
  });

  it('S4: each accepted one becomes one message to one recipient, and no other SMTP command', () => {
    const taken = [...answers.values()].filter(({ status }) => status === 200).length + 1;
    const said = (command: string): number =>
      relay.commands.filter((line) => line.startsWith(command)).length;
    expect([said('MAIL FROM:'), said('RCPT TO:'), said('DATA')]).toEqual([taken, taken, taken]);
    expect(relay.messages).toHaveLength(taken);
    for (const { raw } of relay.messages) {
      const text = raw.toString('latin1');
      expect(text).not.toMatch(/\0|\r(?!\n)|(?<!\r)\n/);
      expect(text.split('\r\n').filter((line) => line.length > 998)).toEqual([]);
    }
    for (const command of relay.commands)
      expect(command).toMatch(/^(EHLO|MAIL FROM:|RCPT TO:|DATA|QUIT|RSET)/);
    const recipients = relay.messages.flatMap(({ to }) => to);
    expect(recipients.filter((to) => to === VICTIM)).toEqual([]);
    // MAIL asks for SMTPUTF8 exactly where the address before the @ is beyond ASCII.
    expect(said('MAIL FROM:')).toBe(relay.messages.length);
    const asked = relay.commands.filter((line) => / SMTPUTF8/.test(line)).length;
    expect(asked).toBe(recipients.filter((to) => /[^\x00-\x7f]/.test(to)).length);
  });

  it.each(CASES.map((each) => [each.what, each] as const))('S4: %s', async (_what, each) => {
    const answer = answers.get(each)!;
    if (answer.status !== 200) {
      expect(answer.status).toBe(400);
      expect(JSON.stringify(answer.body)).toContain(
        Object.keys(each.fields).find((name) => name !== 'to') ?? 'to',
      );
      return;
    }
    const { fields, recipient } = each;
    const message = messageOf(emailIn(answer).messageId);
    expect([utf8(message.from), message.to.map(utf8)]).toEqual(['sender@example.com', [recipient]]);
    expect(headerNames(message)).toEqual(
      ordinaryNames.filter((name) => name !== 'Reply-To' || fields.replyTo !== undefined),
    );
    const read = await PostalMime.parse(message.raw);
    expect(read.to?.map(({ address }) => address)).toEqual([recipient]);
    expectSaid(read, fields);
  });

  function expectSaid(read: Email, fields: Case['fields']): void {
    expect(read.from?.address).toBe('sender@example.com');
    expect([read.cc, read.bcc]).toEqual([undefined, undefined]);
    expect(read.html).toContain('Hello');
    expect(read.attachments).toEqual([]);
    if (fields.subject !== undefined) expect(read.subject?.trim()).toBe(fields.subject.trim());
    if (fields.fromName !== undefined) expect(read.from?.name.trim()).toBe(fields.fromName.trim());
    if (fields.variables !== undefined) expect(read.subject).toBe(inOneLine(`Hello ${fields.variables}`));
    if (fields.text !== undefined) expect(withLf(read.text ?? '')).toContain(withLf(fields.text));
    if (fields.html !== undefined) expect(withLf(read.html ?? '')).toContain(withLf(fields.html));
    if (fields.replyTo !== undefined)
      expect(read.replyTo?.map(({ address }) => address)).toEqual(['reply@example.org']);
  }
});
