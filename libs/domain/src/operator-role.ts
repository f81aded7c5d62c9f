/** What an account of the dashboard may do: look, or also act. */
export const OPERATOR_ROLES = ['viewer', 'operator'] as const;

export type OperatorRole = (typeof OPERATOR_ROLES)[number];

/** Names of accounts of the dashboard. */
export const OPERATOR_NAME = /^[a-z0-9][a-z0-9._-]{0,62}$/;

/** Whether `text` is the name of a role of the dashboard. */
export function isOperatorRole(text: string): text is OperatorRole {
  return (OPERATOR_ROLES as readonly string[]).includes(text);
}
