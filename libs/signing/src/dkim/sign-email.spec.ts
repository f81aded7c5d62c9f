import { createPrivateKey } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import { newDkimKeyPair } from '../dkim-keys.ts';
import { readHead, relaxedBody, relaxedField } from './relaxed.ts';
import { type DkimSigner, parseDkimKey, signEmail } from './sign-email.ts';

const SIGNED_AT = new Date('2026-03-04T05:06:07.890Z');
const MESSAGE = Buffer.from(
  'From: Ada <ada@example.com>\r\nTo: b@example.org\r\nSubject: Hello\r\n there\r\n\r\nHi\r\n',
);

/** The private key of RFC 8463, appendix A.1, in PKCS #8. */
const SEED = 'nWGxne/9WmC6hEr0kuwsxERJxWl7MmkZcDusAxyuf2A=';
const RFC_8463: DkimSigner = {
  algorithm: 'ed25519',
  domain: 'football.example.com',
  selector: 'brisbane',
  privateKey: createPrivateKey({
    key: Buffer.concat([Buffer.from('302e020100300506032b657004220420', 'hex'), Buffer.from(SEED, 'base64')]),
    format: 'der',
    type: 'pkcs8',
  }),
};

const relaxed = (body: string): string => relaxedBody(Buffer.from(body, 'latin1')).toString('latin1');
const tagsOf = (message: Buffer): string => message.toString().split('\r\nFrom:')[0]!;

describe('The relaxed form', () => {
  it('of fields and body is that of RFC 6376, section 3.4.5', () => {
    const message = Buffer.from('A: X\r\nB : Y\t\r\n\tZ  \r\n\r\n C \r\nD \t E\r\n\r\n\r\n');
    const { fields, bodyStart } = readHead(message);
    expect(fields.map(relaxedField)).toEqual(['a:X', 'b:Y Z']);
    expect(relaxedBody(message.subarray(bodyStart)).toString()).toBe(' C\r\nD E\r\n');
  });

  it.each([
    ['', ''],
    ['\r\n', ''],
    [' \t\r\n\r\n  ', ''],
    ['a', 'a\r\n'],
    ['a \r\n \r\n\r\nb\t\tc', 'a\r\n\r\n\r\nb c\r\n'],
    ['\r\n\r\na\r\n', '\r\n\r\na\r\n'],
    ['a\rb\nc\r\r\n', 'a\rb\nc\r\r\n'],
    ['\u00a0 \u00e9\r\n', '\u00a0 \u00e9\r\n'],
  ])('of the body %j is %j', (body, form) => {
    expect(relaxed(body)).toBe(form);
  });

  it('leaves non-ASCII bytes in a field unchanged', () => {
    const [field] = readHead(Buffer.from('To:  <j\u00fcrgen\u00a0@example.com>\r\n\r\n', 'utf8')).fields;
    expect(Buffer.from(relaxedField(field!), 'latin1').toString()).toBe('to:<j\u00fcrgen\u00a0@example.com>');
  });
});

describe('A signature', () => {
  it('contains the domain, the selector, the time, and each header field once more than it occurs, those about lists only if they do', async () => {
    const signed = await signEmail(MESSAGE, [RFC_8463], SIGNED_AT);
    const tags = tagsOf(signed).replaceAll(/\r\n /g, '');
    expect(tags).toMatch(
      /^DKIM-Signature: v=1; a=ed25519-sha256; c=relaxed\/relaxed;d=football\.example\.com;s=brisbane; t=1772600767;/,
    );
    expect(tags).toContain(
      ';h=from:from:to:to:cc:subject:subject:date:message-id:reply-to:mime-version:content-type:' +
        'content-transfer-encoding;',
    );
    const ofList = await signEmail(
      Buffer.from(`List-Unsubscribe: <https://a.example/>\r\nFeedback-ID: posthorn\r\n${MESSAGE.toString()}`),
      [RFC_8463],
      SIGNED_AT,
    );
    expect(ofList.toString().replaceAll(/\r\n /g, '')).toContain(
      ':content-transfer-encoding:list-unsubscribe:list-unsubscribe:feedback-id:feedback-id;bh=',
    );
    expect(signed.subarray(-MESSAGE.length)).toEqual(MESSAGE);
  });

  it('is deterministic, and no line is longer than 78 characters', async () => {
    const rsa = { ...RFC_8463, algorithm: 'rsa' as const, selector: 'rsa' };
    const { privateKey } = await newDkimKeyPair('rsa');
    const signers = [{ ...rsa, privateKey: parseDkimKey(privateKey) }, RFC_8463];
    const signed = await signEmail(MESSAGE, signers, SIGNED_AT);
    expect(await signEmail(MESSAGE, signers, SIGNED_AT)).toEqual(signed);
    expect(
      Math.max(
        ...signed
          .toString()
          .split('\r\n')
          .map(({ length }) => length),
      ),
    ).toBeLessThanOrEqual(78);
    const fields = readHead(signed).fields.map(({ name, raw }) => / a=(\w+)-/.exec(raw)?.[1] ?? name);
    expect(fields).toEqual(['rsa', 'ed25519', 'from', 'to', 'subject']);
  });

  it('without signers leaves the message unchanged', async () => {
    expect(await signEmail(MESSAGE, [], SIGNED_AT)).toBe(MESSAGE);
  });

  it('refuses bytes that are not a private key', () => {
    expect(() => parseDkimKey(Buffer.from('no key'))).toThrow();
  });
});
