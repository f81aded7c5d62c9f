import { describe, expect, it } from '@jest/globals';
import { messageFor, RAW, TEMPLATED } from './send-email.request.fixture.ts';

const HEADER_FIELDS = ['from', 'fromName', 'to', 'subject', 'replyTo', 'groupBy', 'idempotencyKey'] as const;

describe('a field of the wrong kind', () => {
  const strings = [...HEADER_FIELDS, 'html', 'text', 'previewText', 'sendAt'];
  const wrongStrings: unknown[] = [0, 1.5, true, {}, { toString: 'x' }, [[]], [null], null];
  const objects = ['settings', 'contactProperties'];
  const wrongObjects: unknown[] = ['', '{}', 0, true, [], [{}], null];
  const pairs = [
    ...strings.flatMap((field) => wrongStrings.map((value) => [field, value] as const)),
    ...objects.flatMap((field) => wrongObjects.map((value) => [field, value] as const)),
    ...['trackClicks', 'trackOpens'].flatMap((flag) =>
      ['true', '', 0, 1, [], {}, null].map((value) => ['settings', { [flag]: value }] as const),
    ),
  ];

  it.each(pairs)('is refused by name: %s %j', (field, value) => {
    const message = messageFor({ ...RAW, [field]: value });
    expect(message).toMatch(new RegExp(`^\`${field}(\\.\\w+|\\[0\\])?\` is `));
  });

  it.each([
    ...['template', 'to', 'groupBy', 'sendAt', 'idempotencyKey'].flatMap((field) =>
      wrongStrings.map((value) => [field, value] as const),
    ),
    ...['variables', 'settings'].flatMap((field) => wrongObjects.map((value) => [field, value] as const)),
  ])('is refused by name in a templated email: %s %j', (field, value) => {
    expect(messageFor({ ...TEMPLATED, [field]: value })).toMatch(new RegExp(`^\`${field}\` is `));
  });

  it.each(['html', 'subject', 'from', 'to', 'fromName', 'groupBy', 'idempotencyKey', 'replyTo', 'sendAt'])(
    'is refused when %s is empty',
    (field) => {
      expect(messageFor({ ...RAW, [field]: '' })).toMatch(new RegExp(`^\`${field}\` is (empty|not a time)`));
    },
  );
});

describe('a string that becomes a header', () => {
  const breaks = ['\r', '\n', '\r\nBcc: eve@example.com', '\0', '\t', '\u001b', '\u007f', '\u0085'];

  it.each(HEADER_FIELDS.flatMap((field) => breaks.map((text) => [field, text] as const)))(
    'is refused: %s with %j',
    (field, text) => {
      const sound = ['from', 'to', 'replyTo'].includes(field) ? 'ada@example.com' : 'Hello';
      for (const value of [sound + text, text + sound, `He${text}${sound}`]) {
        expect(messageFor({ ...RAW, [field]: value })).toMatch(new RegExp(`^\`${field}\` holds .*U\\+00`));
      }
    },
  );

  it.each(breaks)('is refused in each reply address and in the name of a template: %j', (text) => {
    expect(messageFor({ ...RAW, replyTo: ['a@b.co', `c@d.co${text}`] })).toMatch(/^`replyTo\[1\]` holds/);
    expect(messageFor({ ...TEMPLATED, template: `wel${text}come` })).toMatch(/^`template` holds/);
  });

  it.each(['\u202eAda', 'A\u200bda', '=?utf-8?q?Ada?=', '   ', 'x'.repeat(256), 'x'.repeat(1_000_000)])(
    'is refused as a name: %#',
    (name) => {
      expect(messageFor({ ...RAW, fromName: name })).toMatch(/^`fromName` /);
    },
  );
});
