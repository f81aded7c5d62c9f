import { describe, expect, it } from '@jest/globals';
import { DEFAULT_ROLE, hasScope, isRole, mayManage, ROLE_NAMES, type Role } from './roles.ts';

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

  it('K3: is given by the highest one alone, so never above one’s own', () => {
    expect(ROLE_NAMES.filter(mayManage)).toEqual([ROLE_NAMES.at(-1)]);
  });

  it('is recognised only by its exact name', () => {
    expect(['API_USER', 'EDITOR', 'VIEWER', DEFAULT_ROLE].every(isRole)).toBe(true);
    expect(['', 'editor', 'OWNER', 'toString', '__proto__', 'constructor'].some(isRole)).toBe(false);
  });
});
