import { mayManage, type Role } from '../roles.ts';

/**
 * Whether a change would leave members, but none among them who may manage. The last of all may go: then the workspace has
 * keys alone.
 *
 * @param after what the member is to be; undefined: no member any more
 */
export function leavesNoEditor(rolesOfOthers: readonly Role[], before: Role, after?: Role): boolean {
  const isLost = mayManage(before) && !(after !== undefined && mayManage(after));
  if (!isLost || rolesOfOthers.some(mayManage)) return false;
  return after !== undefined || rolesOfOthers.length > 0;
}
