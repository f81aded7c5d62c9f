import { beginningOf } from '@posthorn/kernel';

/** What an account of the dashboard may do: look, or also act. */
export const OPERATOR_ROLES = ['viewer', 'operator'] as const;

export type OperatorRole = (typeof OPERATOR_ROLES)[number];

/** Names of accounts of the dashboard. */
export const OPERATOR_NAME = /^[a-z0-9][a-z0-9._-]{0,62}$/;

/** Whether `text` is the name of a role of the dashboard. */
export function isOperatorRole(text: string): text is OperatorRole {
  return (OPERATOR_ROLES as readonly string[]).includes(text);
}

/** Which values of a claim of an identity provider give a role. */
export interface RoleValues {
  readonly operator: readonly string[];
  readonly viewer: readonly string[];
}

type Claims = Readonly<Record<string, unknown>>;

/**
 * The value of a claim. A name that no claim has is read as a path, for providers that nest what they say: `realm_access.roles`.
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

/** The role that the value of a claim gives, text or a list of texts: the higher one where there are two; undefined: none. */
export function roleOfClaim(claim: unknown, values: RoleValues): OperatorRole | undefined {
  const said: unknown[] = Array.isArray(claim) ? claim : [claim];
  return [...OPERATOR_ROLES].reverse().find((role) => values[role].some((value) => said.includes(value)));
}

/** What the database takes as a name. */
const MAX_NAME_CHARACTERS = 320;
const SHOWABLE = /^[^\p{C}\p{Z}](?:[^\p{C}]{0,98}[^\p{C}\p{Z}])?$/u;

/**
 * By which name somebody is shown whom an identity provider has vouched for. It has an `@`, which no account's name has.
 *
 * @param claim what the provider says the name is; what cannot be shown in a line is not taken
 * @param subject who it is there
 */
export function vouchedName(claim: unknown, subject: string, issuer: string): string {
  const name =
    typeof claim === 'string' && SHOWABLE.test(claim) ? claim : subject.replace(/[^\x21-\x7e]/g, '?');
  if (name.includes('@') && name.length <= MAX_NAME_CHARACTERS) return name;
  const host = new URL(issuer).hostname;
  return `${beginningOf(name, MAX_NAME_CHARACTERS - 1 - host.length)}@${host}`;
}
