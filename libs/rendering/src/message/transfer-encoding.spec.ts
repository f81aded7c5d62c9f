import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { encodeText } from './transfer-encoding.ts';

const BOUNDARY = '=_trs_1';

function encoded(text: string): { encoding: string; body: string } {
  const { encoding, length, write } = encodeText(text, [BOUNDARY]);
  const target = Buffer.alloc(length + 2);
  expect(write(target, 1)).toBe(length + 1);
  expect(target[0]).toBe(0);
  expect(target[length + 1]).toBe(0);
  return { encoding, body: target.toString('latin1', 1, length + 1) };
}

/** A decoder that follows RFC 2045 and shares no code with the encoder. */
function decoded({ encoding, body }: { encoding: string; body: string }): string {
  if (encoding === 'base64') return Buffer.from(body, 'base64').toString('utf8');
  const bytes = body
    .replaceAll('=\r\n', '')
    .replace(/=([0-9A-F]{2})/g, (_match, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)));
  return encoding === '7bit' ? body : Buffer.from(bytes, 'latin1').toString('utf8');
}

describe('encodeText', () => {
  it('leaves ASCII in short lines unchanged', () => {
    expect(encoded('a\nb')).toEqual({ encoding: '7bit', body: 'a\r\nb' });
    expect(encoded('')).toEqual({ encoding: '7bit', body: '' });
    expect(encoded('a From me\r\nb')).toEqual({ encoding: '7bit', body: 'a From me\r\nb' });
    expect(encoded('x'.repeat(998)).encoding).toBe('7bit');
    expect(encoded(`${'x'.repeat(998)}\n${'x'.repeat(998)}`).encoding).toBe('7bit');
  });

  it('encodes whatever a mail server could change or refuse', () => {
    expect(encoded('x'.repeat(999)).encoding).toBe('quoted-printable');
    expect(encoded('From me').body).toBe('=46rom me');
    expect(encoded(`a ${BOUNDARY} b`).body).toBe('a =3D_trs_1 b');
    expect(encoded('abcdef\x7f').body).toBe('abcdef=7F');
    expect(encoded('abcdef\x01').body).toBe('abcdef=01');
  });

  it('writes quoted-printable: escapes, spaces before a break, dots at the start of a line', () => {
    expect(encoded('Caffé = 1 euro \n.and a tip of 10 %\t').body).toBe(
      'Caff=C3=A9 =3D 1 euro=20\r\n=2Eand a tip of 10 %=09',
    );
  });

  it('adds soft line breaks at 76 characters', () => {
    expect(encoded(`é${'x'.repeat(100)}`).body).toBe(`=C3=A9${'x'.repeat(69)}=\r\n${'x'.repeat(31)}`);
  });

  it('uses base64 where that is shorter, in lines of 76 characters', () => {
    const { encoding, body } = encoded('漢'.repeat(100));
    expect(encoding).toBe('base64');
    expect(body.split('\r\n').map((line) => line.length)).toEqual([76, 76, 76, 76, 76, 20]);
    expect(Buffer.from(body, 'base64').toString('utf8')).toBe('漢'.repeat(100));
  });

  it('preserves any text, has exactly the announced length, limits lines, and never contains the boundary', () => {
    const unit = fc.constantFrom(
      'a',
      ' ',
      '\t',
      '\n',
      '\r\n',
      '.',
      '=',
      '_',
      'From ',
      'é',
      '漢',
      BOUNDARY,
      'x'.repeat(74),
    );
    fc.assert(
      fc.property(fc.string({ unit, maxLength: 400 }), (text) => {
        const { encoding, body } = encoded(text);
        const max = encoding === '7bit' ? 998 : 76;
        for (const line of body.split('\r\n')) expect(line.length).toBeLessThanOrEqual(max);
        expect(body).not.toContain(BOUNDARY);
        expect(body).not.toMatch(/[^\x20-\x7e\r\n\t]/);
        expect(decoded({ encoding, body })).toBe(text.replace(/\r\n?|\n/g, '\r\n'));
      }),
    );
  });
});
