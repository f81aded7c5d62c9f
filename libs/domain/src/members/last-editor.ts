import { mayManage, type Role } from '../roles.ts';

/**
 * Whether a change would leave members, but none who may manage the workspace. The last member may be removed: the workspace is then
 * managed with API keys only.
 *
 * @param after the new role of the member; undefined: the member is removed
 */
export function leavesNoEditor(rolesOfOthers: readonly Role[], before: Role, after?: Role): boolean {
  const isLost = mayManage(before) && !(after !== undefined && mayManage(after));
  if (!isLost || rolesOfOthers.some(mayManage)) return false;
  return after !== undefined || rolesOfOthers.length > 0;
}
