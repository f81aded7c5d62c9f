import { beginningOf } from '@posthorn/kernel';

/** The roles of dashboard accounts: `viewer` may only read. */
export const OPERATOR_ROLES = ['viewer', 'operator'] as const;

export type OperatorRole = (typeof OPERATOR_ROLES)[number];

/** Valid names of dashboard accounts. */
export const OPERATOR_NAME = /^[a-z0-9][a-z0-9._-]{0,62}$/;

/** Whether `text` is the name of a dashboard role. */
export function isOperatorRole(text: string): text is OperatorRole {
  return (OPERATOR_ROLES as readonly string[]).includes(text);
}

/** The values of the role claim that grant each role. */
export interface RoleValues {
  readonly operator: readonly string[];
  readonly viewer: readonly string[];
}

type Claims = Readonly<Record<string, unknown>>;

/**
 * The value of a claim. If no claim has the name, it is a path into nested claims: `realm_access.roles`.
 */
export function claimIn(claims: Claims, name: string): unknown {
  if (Object.hasOwn(claims, name)) return claims[name];
  let value: unknown = claims;
  for (const part of name.split('.')) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, part)) return undefined;
    value = (value as Claims)[part];
  }
  return value;
}

/** The highest role that a claim grants, whose value is a text or a list of texts; undefined: none. */
export function roleOfClaim(claim: unknown, values: RoleValues): OperatorRole | undefined {
  const claimed: unknown[] = Array.isArray(claim) ? claim : [claim];
  return [...OPERATOR_ROLES].reverse().find((role) => values[role].some((value) => claimed.includes(value)));
}

/** The maximum length of a name in the database. */
const MAX_NAME_CHARACTERS = 320;
const PRINTABLE_NAME = /^[^\p{C}\p{Z}](?:[^\p{C}]{0,98}[^\p{C}\p{Z}])?$/u;

/**
 * The name of a user of an identity provider. It contains an `@`, which names of dashboard accounts cannot.
 *
 * @param claim the name claim; not used if it is not printable
 * @param subject the subject identifier, used instead
 */
export function providerUserName(claim: unknown, subject: string, issuer: string): string {
  const name =
    typeof claim === 'string' && PRINTABLE_NAME.test(claim) ? claim : subject.replace(/[^\x21-\x7e]/g, '?');
  if (name.includes('@') && name.length <= MAX_NAME_CHARACTERS) return name;
  const host = new URL(issuer).hostname;
  return `${beginningOf(name, MAX_NAME_CHARACTERS - 1 - host.length)}@${host}`;
}
