import { expect, it } from '@jest/globals';
import { DatabaseUnusable } from './unusable.ts';

it.each([
  ['25006', 'this Postgres is a standby', /^Postgres takes no changes: .* \(this Postgres is a standby\)$/],
  ['ECONNREFUSED', 'connect ECONNREFUSED', /^No database answers: /],
])('what an operator is told of %s', (code, message, told) => {
  expect(DatabaseUnusable.because(Object.assign(new Error(message), { code }))).toMatchObject({
    message: expect.stringMatching(told),
  });
});
