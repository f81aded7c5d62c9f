/** The scopes of API keys: `api_user` sends email and handles webhooks, `user` reads. */
export type Scope = 'api_user' | 'user';

interface RolePermissions {
  readonly scopes: readonly Scope[];
  /** May create, change and delete keys, identities, templates and members. */
  readonly manages: boolean;
  /** A role has all permissions of the roles with a lower rank. */
  readonly rank: number;
}

/** The roles of an API key. */
const ROLES = {
  VIEWER: { scopes: ['user'], manages: false, rank: 0 },
  API_USER: { scopes: ['api_user', 'user'], manages: false, rank: 1 },
  EDITOR: { scopes: ['api_user', 'user'], manages: true, rank: 2 },
} as const satisfies Record<string, RolePermissions>;

export type Role = keyof typeof ROLES;

/** The role of a key that is created without one. */
export const DEFAULT_ROLE: Role = 'API_USER';

/** The names of the roles, by ascending rank. */
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

/** Whether a key with the role `own` may grant the role `granted`: never one that ranks above its own. */
export function mayGrant(own: Role, granted: Role): boolean {
  return mayManage(own) && ROLES[granted].rank <= ROLES[own].rank;
}
