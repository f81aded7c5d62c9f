import { describe, expect, it } from '@jest/globals';
import { DEFAULT_ROLE, hasScope, isRole, mayGrant, mayManage, ROLE_NAMES, type Role } from './roles.ts';

describe('K2: a role', () => {
  it.each<[Role, boolean, boolean, boolean]>([
    ['API_USER', true, true, false],
    ['EDITOR', true, true, true],
    ['VIEWER', false, true, false],
  ])('%s has its scopes and no others', (role, apiUser, user, manages) => {
    expect([hasScope(role, 'api_user'), hasScope(role, 'user'), mayManage(role)]).toEqual([
      apiUser,
      user,
      manages,
    ]);
  });

  it('K3: is never granted above one’s own, and only by a role that may manage', () => {
    const pairs = ROLE_NAMES.flatMap((own) => ROLE_NAMES.map((granted) => [own, granted] as const));
    const granting = pairs.filter(([own, granted]) => mayGrant(own, granted));
    expect(granting).toEqual([
      ['EDITOR', 'VIEWER'],
      ['EDITOR', 'API_USER'],
      ['EDITOR', 'EDITOR'],
    ]);
  });

  it('is recognised only by its exact name', () => {
    expect(['API_USER', 'EDITOR', 'VIEWER', DEFAULT_ROLE].every(isRole)).toBe(true);
    expect(['', 'editor', 'OWNER', 'toString', '__proto__', 'constructor'].some(isRole)).toBe(false);
  });
});
