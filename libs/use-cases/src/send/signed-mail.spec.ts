import { readdirSync, readFileSync } from 'node:fs';
import { beforeAll, describe, expect, it } from '@jest/globals';
import { composeMessage, type MessageSource } from '@posthorn/rendering';
import { type DkimSigner, signEmail } from '@posthorn/signing';
import fc from 'fast-check';
import {
  dkimpyResults,
  mailauthResults,
  newTestSigner,
  whyNoDkimpy,
  type Zone,
} from './dkim-verifiers.fixture.ts';

const DOMAIN = 'example.com';
const SIGNED_AT = new Date('2026-03-04T05:06:07Z');
const BOTH = ['pass', 'pass'];
const SOURCE: MessageSource = {
  id: 'trs_01h455vb4pex5vsknk084sn02q',
  messageId: '01h455vb4pex5vsknk084sn02q@example.com',
  date: SIGNED_AT,
  from: { address: 'sender@example.com', name: 'Zoë' },
  to: { address: 'receiver@example.org' },
  replyTo: [{ address: 'help@example.com' }],
  subject: 'Grüße',
  html: '<p>Hello</p>\n',
  text: 'Hello\n',
};

let signers: DkimSigner[];
let zone: Zone;
beforeAll(async () => {
  const composed = await Promise.all([newTestSigner('rsa', DOMAIN), newTestSigner('ed25519', DOMAIN)]);
  signers = composed.map(({ signer }) => signer);
  zone = Object.assign({}, ...composed.map((each) => each.zone)) as Zone;
});

const signed = (change: Partial<MessageSource> = {}): Promise<Buffer> =>
  signEmail(composeMessage({ ...SOURCE, ...change }), signers, SIGNED_AT);

const corpus = new URL('../../../../test/corpus/email-templates/', import.meta.url);
function corpusMails(): Partial<MessageSource>[] {
  const folders = readdirSync(corpus, { withFileTypes: true }).filter((entry) => entry.isDirectory());
  return folders.map(({ name }) => ({
    subject: name,
    html: readFileSync(new URL(`${name}/content.html`, corpus), 'utf8'),
    text: readFileSync(new URL(`${name}/content.txt`, corpus), 'utf8'),
  }));
}

const text = fc
  .string({ unit: 'binary', maxLength: 120 })
  .map((each) => each.replaceAll(/\p{Cc}/gu, ' ').trim());
const bodies = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 800 }),
  fc.string({
    unit: fc.constantFrom('a', ' ', '\t', '\n', '\r', '.', '=', 'From ', 'é', '😀'),
    maxLength: 300,
  }),
);
const sources: fc.Arbitrary<Partial<MessageSource>> = fc.record({
  subject: text,
  html: bodies,
  text: bodies,
  from: fc.record({ address: fc.constant('sender@example.com'), name: text.filter((name) => name !== '') }),
  to: fc.constantFrom({ address: 'receiver@example.org' }, { address: 'jürgen@example.org', name: 'Jürgen' }),
});

const missing = whyNoDkimpy();
function withDkimpy(name: string, test: () => Promise<void> | void): void {
  if (missing === undefined) it(name, test);
  else it.skip(`${name} (skipped: ${missing})`, test);
}

describe('A signed mail', () => {
  it('is verified by mailauth, whatever its content', async () => {
    for (const mail of corpusMails()) expect(await mailauthResults(await signed(mail), zone)).toEqual(BOTH);
    await fc.assert(
      fc.asyncProperty(sources, async (source) => {
        expect(await mailauthResults(await signed(source), zone)).toEqual(BOTH);
      }),
      { numRuns: 100 },
    );
  });

  it('with a field several times is verified too: of these, the last one is signed first', async () => {
    const mail = Buffer.concat([
      Buffer.from('To: a@example.org\r\nTo: b@example.org\r\n'),
      composeMessage(SOURCE),
    ]);
    expect(await mailauthResults(await signEmail(mail, signers, SIGNED_AT), zone)).toEqual(BOTH);
  });

  withDkimpy('is verified by dkimpy, whatever its content', async () => {
    const changes = [...corpusMails(), ...fc.sample(sources, 100)];
    const results = dkimpyResults(await Promise.all(changes.map(signed)), zone, signers.length);
    expect(results.filter((each) => !each.every(Boolean))).toEqual([]);
  });
});

const LIST_FIELDS =
  'List-Unsubscribe: <https://example.com/u/1>\r\nList-Unsubscribe-Post: List-Unsubscribe=One-Click\r\n';
const THERE = [
  ...['From', 'To', 'Reply-To', 'Subject', 'Date', 'Message-ID', 'MIME-Version', 'Content-Type'],
  ...['List-Unsubscribe', 'List-Unsubscribe-Post'],
];
const NOT_THERE = ['Cc', 'Content-Transfer-Encoding'];

/** A field with its continuation lines, at the beginning of a line. */
const fieldNamed = (field: string): RegExp =>
  new RegExp(`^${field}:[^\\r]*(?:\\r\\n[ \\t][^\\r]*)*\\r\\n`, 'im');
const changed = (message: Buffer, change: (text: string) => string): Buffer =>
  Buffer.from(change(message.toString('latin1')), 'latin1');

describe('A signed mail that was changed', () => {
  let message: Buffer;
  const changedMails: Buffer[] = [];
  beforeAll(async () => {
    const composeOrFail = composeMessage({ ...SOURCE, html: '<p>Hello</p>' });
    message = await signEmail(Buffer.concat([Buffer.from(LIST_FIELDS), composeOrFail]), signers, SIGNED_AT);
  });

  async function expectBroken(tampered: Buffer): Promise<void> {
    expect(tampered.equals(message)).toBe(false);
    const results = await mailauthResults(tampered, zone);
    expect(results).toHaveLength(2);
    expect(results).not.toContain('pass');
    changedMails.push(tampered);
  }

  it('is verified before the change', async () => {
    expect(await mailauthResults(message, zone)).toEqual(BOTH);
  });

  it.each([...THERE, ...NOT_THERE])('by adding another %s is not verified', async (field) => {
    const another = `${field}: x@example.net\r\n`;
    await expectBroken(changed(message, (all) => `${another}${all}`));
    await expectBroken(changed(message, (all) => all.replace('\r\n\r\n', `\r\n${another}\r\n`)));
  });

  it.each(THERE)('in its %s is not verified', async (field) => {
    await expectBroken(
      changed(message, (all) => all.replace(fieldNamed(field), (is) => is.replace(': ', ': x'))),
    );
  });

  it.each(THERE)('by removing its %s is not verified', async (field) => {
    await expectBroken(changed(message, (all) => all.replace(fieldNamed(field), '')));
  });

  it('in its body, or by appending to it, is not verified', async () => {
    await expectBroken(changed(message, (all) => all.replace('<p>Hello', '<p>Hullo')));
    await expectBroken(Buffer.concat([message, Buffer.from('more\r\n')]));
  });

  withDkimpy('is not verified by dkimpy either', () => {
    expect(changedMails.length).toBeGreaterThan(40);
    const results = dkimpyResults(changedMails, zone, signers.length);
    expect(results.filter((each) => each.some(Boolean))).toEqual([]);
  });

  it('as relays may (whitespace, empty lines at the end, other fields) is verified', async () => {
    const relayed = changed(
      message,
      (all) => `Received: by relay\r\n${all.replace('To: ', 'TO:   ')}\r\n\r\n`,
    );
    expect(await mailauthResults(relayed, zone)).toEqual(BOTH);
  });

  it('as groups and mailing lists may (fields about the list, where the mail has none) is verified', async () => {
    const group = 'List-ID: <billing.example.org>\r\nList-Unsubscribe: <mailto:billing+u@example.org>\r\n';
    const passedOn = changed(await signed(), (all) => `${group}List-Unsubscribe-Post: x\r\n${all}`);
    expect(await mailauthResults(passedOn, zone)).toEqual(BOTH);
  });
});
