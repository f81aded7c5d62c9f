/** The scopes of API keys: `api_user` sends email and handles webhooks, `user` reads. */
export type Scope = 'api_user' | 'user';

interface RolePermissions {
  readonly scopes: readonly Scope[];
  /** May create, change and delete keys, identities, templates and members. */
  readonly manages: boolean;
}

/**
 * The roles of an API key, by ascending permissions. Only the last one may give roles, so nobody gives one above their own (K3).
 */
const ROLES = {
  VIEWER: { scopes: ['user'], manages: false },
  API_USER: { scopes: ['api_user', 'user'], manages: false },
  EDITOR: { scopes: ['api_user', 'user'], manages: true },
} as const satisfies Record<string, RolePermissions>;

export type Role = keyof typeof ROLES;

/** The role of a key that is created without one. */
export const DEFAULT_ROLE: Role = 'API_USER';

/** The names of the roles, by ascending permissions. */
export const ROLE_NAMES = Object.keys(ROLES) as Role[];

/** Whether `text` is the name of a role. */
export function isRole(text: string): text is Role {
  return Object.hasOwn(ROLES, text);
}

/** Whether a key with this role has this scope. A missing scope is answered with 401. */
export function hasScope(role: Role, scope: Scope): boolean {
  return (ROLES[role].scopes as readonly Scope[]).includes(scope);
}

/** Whether a key with this role may manage keys, identities, templates and members. If not, the answer is 403. */
export function mayManage(role: Role): boolean {
  return ROLES[role].manages;
}
