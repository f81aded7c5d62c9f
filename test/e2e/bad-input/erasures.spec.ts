import { describe, it } from '@jest/globals';
import { type Case, casesOf, type RequestField, shown, texts } from './cases.ts';
import { INVALID_MAILBOXES } from './faults/mailboxes.ts';
import { RefusingStack, titled } from './refusing-stack.ts';

const ERASE = 'POST /v1/erasures';

const refusing = RefusingStack.forFile();
const refuses = (_title: string, bad: Case): Promise<void> => refusing.refuses(bad);

const email: RequestField = {
  route: ERASE,
  field: 'email',
  request: (value) => ({ body: { email: value } }),
};
const suppress: RequestField = {
  route: ERASE,
  field: 'suppress',
  request: (value) => ({ body: { email: 'ada@example.net', suppress: value } }),
};
const sending = (what: string, body: unknown, names: string | RegExp): Case => ({
  what,
  route: ERASE,
  body,
  status: 400,
  names,
});

describe('S21: invalid addresses of persons to erase', () => {
  const named = texts('Ada <ada@example.net>', '<ada@example.net>', '@example.net', '*@example.net ok', '%');
  it.each(titled(casesOf([...INVALID_MAILBOXES, ...named], [email])))('%s', refuses);
});

describe('S21: values of `suppress` that are not true or false', () => {
  const wrong = [null, 'true', '', 0, 1, [], [true], {}];
  it.each(
    titled(
      casesOf(
        wrong.map((value) => ({ what: shown(value), value })),
        [suppress],
      ),
    ),
  )('%s', refuses);
});

describe('G2, G4: invalid bodies and unknown fields of erasures', () => {
  const ada = { email: 'ada@example.net' };
  it.each(
    titled([
      sending('no address', {}, '`email` is missing'),
      sending('an array', [ada], 'object'),
      sending('a workspace', { ...ada, workspaceId: 'wrk_01m7yxr9ypetxsrbdn4bmhm6ax' }, '`workspaceId`'),
      sending('the address as `address`', { address: 'ada@example.net' }, '`address`'),
      sending('several addresses', { email: ['ada@example.net', 'bo@example.net'] }, '`email`'),
    ]),
  )('%s', refuses);
});
