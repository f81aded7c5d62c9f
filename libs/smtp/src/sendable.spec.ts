import { describe, expect, it } from '@jest/globals';
import { assertSendableEnvelope, assertSendableMessage, needsSmtpUtf8 } from './sendable.ts';

const good = { from: 'a@example.com', to: 'b@example.com' };

describe('sendable envelopes and messages', () => {
  it('is an envelope of two plain addresses', () => {
    expect(() => assertSendableEnvelope(good)).not.toThrow();
    expect(() => assertSendableEnvelope({ ...good, to: 'jürgen@bücher.example' })).not.toThrow();
  });

  it.each([
    '',
    'nobody',
    'a@b\r\nRCPT TO:<c@d>',
    'a@b\n',
    'a@b> SIZE=1',
    '<a@b',
    'a b@c',
    'a@b\u00a0',
    'a@b\u0000',
    'a@b\u0085',
    'a@b\ud800',
  ])('is no address like %j', (address) => {
    expect(() => assertSendableEnvelope({ ...good, to: address })).toThrow("the envelope's `to`");
    expect(() => assertSendableEnvelope({ ...good, from: address })).toThrow("the envelope's `from`");
  });

  it.each(['', 'a b', 'a\r\nRCPT TO:<c@d>', 'a+20b', 'a=b', 'é', 'x'.repeat(101)])(
    'asks for no reports by an id like %j',
    (envelopeId) => {
      expect(() => assertSendableEnvelope({ ...good, reports: { envelopeId, of: ['FAILURE'] } })).toThrow(
        'the id of the envelope',
      );
    },
  );

  it.each(['\r\n', 'A: b\r\n\r\nc\r\n', '\r\n\r\n.\r\n'])('is a message in CRLF lines: %j', (text) => {
    expect(() => assertSendableMessage(Buffer.from(text))).not.toThrow();
  });

  it.each(['', 'a', 'a\r', 'a\n', '\n', '\na\r\n', 'a\r\r\n', 'a\rb\r\n', 'a\r\n\nb\r\n', 'a\r\nb'])(
    'is no message that would be altered on its way: %j',
    (text) => {
      expect(() => assertSendableMessage(Buffer.from(text))).toThrow(/bare CR or LF|does not end in CRLF/);
    },
  );

  it('needs SMTPUTF8 only for addresses beyond ASCII', () => {
    const plain = Buffer.from('Subject: x\r\n\r\nä\r\n');
    expect(needsSmtpUtf8(good, plain)).toBe(false);
    expect(needsSmtpUtf8({ ...good, from: 'ä@example.com' }, plain)).toBe(true);
    expect(needsSmtpUtf8({ ...good, to: 'b@exämple.com' }, plain)).toBe(true);
  });

  it('are also those of the headers', () => {
    expect(needsSmtpUtf8(good, Buffer.from('Reply-To: ä@example.com\r\n\r\nx\r\n'))).toBe(true);
  });
});
