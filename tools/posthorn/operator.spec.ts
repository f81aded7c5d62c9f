import { userInfo } from 'node:os';
import { expect, it } from '@jest/globals';
import { operatorName } from './operator.mjs';

it('Whoever gives commands is named as they say, for in a container all have the same account', () => {
  expect(operatorName({ POSTHORN_OPERATOR: ' Ada Lovelace ' })).toBe('Ada Lovelace');
});

it.each([{}, { POSTHORN_OPERATOR: '' }, { POSTHORN_OPERATOR: ' ' }])(
  'Whoever says nothing (%j) is named as the account of the machine',
  (env) => {
    expect(operatorName(env)).toBe(userInfo().username);
  },
);

it.each(['x'.repeat(101), 'ada\u001b[2J', 'ada\nbo', 'a\u202eb'])('Nobody is named %j', (name) => {
  expect(() => operatorName({ POSTHORN_OPERATOR: name })).toThrow(/^POSTHORN_OPERATOR is more than 100/);
});
