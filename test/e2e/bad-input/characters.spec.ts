import { describe, it } from '@jest/globals';
import { newRecipient, validEmail } from '../stack.ts';
import { type Case, casesOf, type Fault, inRawEmail, type RequestField } from './cases.ts';
import { atLeastForty, RefusingStack } from './refusing-stack.ts';

const refusing = RefusingStack.forFile();
const refuses = (_title: string, bad: Case): Promise<void> => refusing.refuses(bad);

/** Characters that no string and no key of a body may contain. */
const IMPOSSIBLE: readonly [what: string, text: string, says: string][] = [
  ['NUL', '\0', 'has the character U+0000'],
  ['two NULs', '\0\0', 'has the character U+0000'],
  ['the first half of a pair', '\ud800', 'half of a surrogate pair'],
  ['the last first half', '\udbff', 'half of a surrogate pair'],
  ['the second half of a pair', '\udc00', 'half of a surrogate pair'],
  ['the last second half', '\udfff', 'half of a surrogate pair'],
  ['a pair the wrong way round', '\ude00\ud83d', 'half of a surrogate pair'],
  ['half of a pair beside a whole one', '😀\ud83d', 'half of a surrogate pair'],
];

/** Positions in a text: the end, the beginning, the middle, alone. */
const AROUND: readonly ((evil: string) => string)[] = [
  (evil) => `Hello${evil}`,
  (evil) => `${evil}Hello`,
  (evil) => `He${evil}llo`,
  (evil) => evil,
];
const faults = IMPOSSIBLE.flatMap(([what, text, says]) =>
  AROUND.map((around, place): Fault => ({ what: `${what} (${place})`, value: around(text), says })),
);

describe('G11: NUL and half of a surrogate pair in values', () => {
  const strings = ['from', 'fromName', 'to', 'subject', 'html', 'text', 'previewText', 'replyTo', 'groupBy'];
  const places = [
    ...[...strings, 'sendAt', 'idempotencyKey', 'template', 'unknown'].map((field) => inRawEmail(field)),
    inRawEmail('replyTo[1]', (value) => ['a@example.com', value]),
    inRawEmail('contactProperties.a', (value) => ({ a: value })),
    inRawEmail('contactProperties.a.b[1]', (value) => ({ a: { b: [1, value] } })),
    inRawEmail('settings.trackOpens', (value) => ({ trackOpens: value })),
  ];
  it.each(
    atLeastForty(
      places.flatMap((place) =>
        casesOf(
          faults.map((fault) => ({
            ...fault,
            says: `\`${place.field}\` ${fault.says as string}`.replace('` half', '` has half'),
          })),
          [place],
        ),
      ),
    ),
  )('%s', refuses);
});

describe('G11: NUL and half of a surrogate pair in keys', () => {
  const inKey = (field: string, bodyOf: (key: string) => object): RequestField => ({
    route: 'POST /v1/emails',
    field,
    request: (key) => ({ body: bodyOf(key as string) }),
  });
  const places = [
    inKey('the email', (key) => ({ ...validEmail(), [key]: 1 })),
    inKey('settings', (key) => ({ ...validEmail(), settings: { [key]: true } })),
    inKey('contactProperties', (key) => ({ ...validEmail(), contactProperties: { a: [{ [key]: 1 }] } })),
    inKey('variables', (key) => ({ template: 't', to: newRecipient(), variables: { [key]: 1 } })),
  ];
  it.each(atLeastForty(casesOf(faults, places)))('%s', refuses);
});
