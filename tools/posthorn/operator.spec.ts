import { userInfo } from 'node:os';
import { expect, it } from '@jest/globals';
import { operatorName } from './operator.mjs';

it('The operator has the name in POSTHORN_OPERATOR, because in a container everybody has the same account', () => {
  expect(operatorName({ POSTHORN_OPERATOR: ' Ada Lovelace ' })).toBe('Ada Lovelace');
});

it.each([{}, { POSTHORN_OPERATOR: '' }, { POSTHORN_OPERATOR: ' ' }])(
  'Without POSTHORN_OPERATOR (%j), the operator has the name of the account',
  (env) => {
    expect(operatorName(env)).toBe(userInfo().username);
  },
);

it.each(['x'.repeat(101), 'ada\u001b[2J', 'ada\nbo', 'a\u202eb'])('%j is not a name', (name) => {
  expect(() => operatorName({ POSTHORN_OPERATOR: name })).toThrow(/^POSTHORN_OPERATOR is more than 100/);
});
