import { describe, expect, it } from '@jest/globals';
import { readReply, redactionOf } from './reply.ts';

const read = (raw: string): ReturnType<typeof readReply> => readReply(raw, (text) => text);

describe('a reply', () => {
  it.each([
    ['250 ok', { code: 250, text: 'ok' }],
    ['250', { code: 250, text: '' }],
    ['550 5.1.1 no such user', { code: 550, enhancedCode: '5.1.1', text: 'no such user' }],
    ['550-5.1.1 no such\n550 5.1.1 user', { code: 550, enhancedCode: '5.1.1', text: 'no such user' }],
    ['451-4.7.1 wait\n451 a little', { code: 451, enhancedCode: '4.7.1', text: 'wait a little' }],
    ['550 4.1.1 contradicts itself', { code: 550, text: 'contradicts itself' }],
    ['550 5.1.1.1 is no enhanced code', { code: 550, text: '5.1.1.1 is no enhanced code' }],
    ['550 5.1234.1 is none either', { code: 550, text: '5.1234.1 is none either' }],
    ['550 not 5.1.1 yet', { code: 550, text: 'not 5.1.1 yet' }],
    ['250-ok\nbye', { code: 250, text: 'ok bye' }],
    ['550 a\u0000b\u001b[31mc\u202ed\u200be', { code: 550, text: 'a b [31mc d e' }],
  ])('is read: %j', (raw, reply) => {
    expect(read(raw)).toEqual(reply);
  });

  it.each(['', '55', '5500 x', '600 x', '150 x', 'hello', 'x250 ok'])('is none: %j', (raw) => {
    expect(read(raw)).toBeUndefined();
  });

  it.each(['250-ok\n550 5.7.1 no', '550-5.7.1 no\n250 ok', '451-later\n550 never', '354-go\n354-on\n250 ok'])(
    'is none when its lines contradict each other: %j',
    (raw) => {
      expect(read(raw)).toBeUndefined();
    },
  );

  it('may have several codes of one class; the first one counts', () => {
    expect(read('550-5.1.1 no such user\n554 bye')?.code).toBe(550);
  });

  it('is truncated to 512 characters, never within a character', () => {
    expect(read(`550 ${'x'.repeat(100_000)}`)?.text).toHaveLength(512);
    const text = read(`550 x${'😀'.repeat(1_000)}`)?.text ?? '';
    expect(text).toBe(`x${'😀'.repeat(255)}`);
  });
});

describe('the redaction', () => {
  it('removes user and password in every form in which they are sent', () => {
    const redact = redactionOf({ user: 'joe@x', password: 'hunter2/' });
    const plain = Buffer.from('\0joe@x\0hunter2/').toString('base64');
    const words = ['joe@x', 'hunter2/', 'joe%40x', 'hunter2%2F', plain].join(' ');
    expect(redact(`535 ${words} ${Buffer.from('hunter2/').toString('base64')} denied`)).toBe(
      '535 *** *** *** *** *** *** denied',
    );
  });

  it('leaves texts alone that contain a user of two characters', () => {
    expect(redactionOf({ user: 'no', password: 'abc' })('550 no abc')).toBe('550 no ***');
  });

  it('leaves texts alone when there are no credentials', () => {
    expect(redactionOf(undefined)('any text')).toBe('any text');
  });
});
