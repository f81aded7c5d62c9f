import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { redactLine } from './redact-line.ts';

/** What becomes of a message, which is twice in its line: nothing in the first field may change what becomes of the second. */
function redacted(message: string): string {
  const line = JSON.parse(redactLine(JSON.stringify({ message, again: [message] }))) as { message: string };
  expect(line).toEqual({ message: line.message, again: [line.message] });
  return line.message;
}

describe('redactLine', () => {
  it.each([
    ['phk_abcDEF1234567890 is wrong', 'phk_*** is wrong'],
    ['token wht_A1b2C3', 'token wht_***'],
    ['GET /invitations/phi_A1b2C3', 'GET /invitations/phi_***'],
    ['GET /unsubscribe/phu_A1-b2_C3', 'GET /unsubscribe/phu_***'],
    ['GET /t/c/phc_A1-b2_C3', 'GET /t/c/phc_***'],
    ['GET /verify/identity/phv_A1b2C3', 'GET /verify/identity/phv_***'],
    ['posthorn operator password: php_A1b2C3', 'posthorn operator password: php_***'],
    ['GET /unsubscribe%2Fphu_A1-b2_C3', 'GET /unsubscribe%2Fphu_***'],
    ['line\nphk_abcDEF1234567890', 'line\nphk_***'],
    ['Authorization: Bearer abc.def-123', 'Authorization: Bearer ***'],
    ['line\nBasic dXNlcjpwYXNz', 'line\nBasic ***'],
    ['jane.doe+x@example.com bounced', '***@example.com bounced'],
    ['Jane <jane@example.com>, bob@example.org', 'Jane <***@example.com>, ***@example.org'],
    ['"jane doe"@example.com', '***@example.com'],
    ['to "jane doe"@example.com from "b"', 'to ***@example.com from "b"'],
    ['"a \\"b\\" c"@example.com', '***@example.com'],
    ['@nestjs/core needs "x"', '@nestjs/core needs "x"'],
    ['@x back\\', '@x back\\'],
    ['jörg@exämple.de', '***@exämple.de'],
    ['a/b=c@example.com', 'a/b=***@example.com'],
    ['jane%40example.com', '***%40example.com'],
    ['jane%2540example.com and %252540', '***%2540example.com and %252540'],
    ['/v1/suppressions?email=jane%40example.com', '/v1/suppressions?email=***%40example.com'],
    ['postgres://user:pass@db:5432/x', 'postgres://[credentials]@db:5432/x'],
    ['redis://:p@ss@cache:6379', 'redis://[credentials]@cache:6379'],
    ['line\njane@example.com', 'line\n***@example.com'],
    ['back\\jane@example.com', 'back\\***@example.com'],
    ['\u0001jane@example.com', '\u0001***@example.com'],
    ['at x (/app/node_modules/@nestjs/core/a.js:1:2)', 'at x (/app/node_modules/@nestjs/core/a.js:1:2)'],
    ['nothing here', 'nothing here'],
  ])('writes %j as %j', (text, expected) => {
    expect(redacted(text)).toBe(expected);
  });

  it('keeps every line valid JSON, and shows no local part of an address', () => {
    const piece = fc.oneof(
      fc.string({ unit: 'binary' }),
      fc.constantFrom(
        '@',
        '%40',
        '"@',
        '\\',
        '\n',
        '\u0001',
        '://',
        'phk_a',
        'jane@example.com',
        ' jane@example.com',
      ),
    );
    fc.assert(
      fc.property(fc.array(piece), (pieces) => {
        expect(redacted(pieces.join(''))).not.toContain('jane@');
      }),
    );
  });

  it('takes linear time on long lines without spaces', () => {
    const before = process.threadCpuUsage();
    redacted('a'.repeat(2_000_000) + '@'.repeat(50_000));
    redacted('%40'.repeat(50_000));
    redacted('\\"'.repeat(100_000) + '"@'.repeat(50_000));
    expect(process.threadCpuUsage(before).user / 1_000).toBeLessThan(2_000);
  });
});
