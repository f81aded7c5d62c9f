import { describe, expect, it } from '@jest/globals';
import { claimIn, roleOfClaim, providerUserName } from './operator-role.ts';

const VALUES = { operator: ['ops', 'admins'], viewer: ['staff'] };

it.each<[unknown, ReturnType<typeof roleOfClaim>]>([
  ['ops', 'operator'],
  ['staff', 'viewer'],
  [['staff', 'admins'], 'operator'],
  [['x', 'staff'], 'viewer'],
  [[], undefined],
  [['OPS', 'ops2', ' ops'], undefined],
  ['ops staff', undefined],
  [undefined, undefined],
  [true, undefined],
  [{ ops: true }, undefined],
  [[['ops']], undefined],
])('The claim %j gives the role %s', (claim, role) => {
  expect(roleOfClaim(claim, VALUES)).toBe(role);
});

describe('A claim', () => {
  it.each<[string, unknown]>([
    ['groups', ['a']],
    ['realm_access.roles', ['b']],
    ['https://example.com/roles', 'c'],
    ['realm_access.none', undefined],
    ['groups.length', 1],
    ['constructor', undefined],
    ['realm_access.constructor.name', undefined],
    ['', undefined],
  ])('is found by its name or its path: %s', (name, value) => {
    const claims = { 'groups': ['a'], 'realm_access': { roles: ['b'] }, 'https://example.com/roles': 'c' };
    expect(claimIn(claims, name)).toEqual(value);
  });
});

it.each([
  ['ada', 'ada@login.example.com'],
  ['ada@example.com', 'ada@example.com'],
  ['Ada Lovelace', 'Ada Lovelace@login.example.com'],
  [' ada', '42@login.example.com'],
  ['a\nb', '42@login.example.com'],
  ['a\u202eb', '42@login.example.com'],
  ['x'.repeat(101), '42@login.example.com'],
  [undefined, '42@login.example.com'],
  [7, '42@login.example.com'],
])('Who is named %j there is shown as %s', (claim, name) => {
  expect(providerUserName(claim, '42', 'https://login.example.com/realms/staff')).toBe(name);
});

it('A long name at a provider with a long host name is truncated to 320 characters', () => {
  const host = `${'login.'.repeat(20)}example.com`;
  const name = providerUserName(undefined, 's'.repeat(255), `https://${host}`);
  expect([name.length, name.endsWith(`s@${host}`)]).toEqual([320, true]);
  expect(providerUserName(undefined, 's'.repeat(255), 'https://login.example.com')).toBe(
    `${'s'.repeat(255)}@login.example.com`,
  );
});

it('A name is not truncated within a character', () => {
  const host = `${'login.'.repeat(36)}example.com`;
  expect(providerUserName(`a${'😀'.repeat(99)}`, '42', `https://${host}`)).toBe(
    `a${'😀'.repeat(45)}@${host}`,
  );
});

it.each(['@', 'a@b.example'])(
  'Whoever is %s and has a name that the database does not take is shown as 320 characters of it',
  (end) => {
    for (const subject of [`${end}${'s'.repeat(5_000)}`, `${'s'.repeat(5_000)}${end}`]) {
      const name = providerUserName(undefined, subject, 'https://login.example.com');
      expect([name.length, name.endsWith('s@login.example.com')]).toEqual([320, true]);
    }
  },
);
