import { Refusal } from '@posthorn/kernel';
import { type Actor, isOperatorRole, OPERATOR_NAME, OPERATOR_ROLES } from '@posthorn/domain';
import type { OperatorAccountStore } from '@posthorn/database';
import { hashPassword, newSecret, SECRET_PREFIXES } from '@posthorn/signing';

/** An account with its password, which cannot be shown again. */
interface OperatorWithPassword {
  readonly name: string;
  readonly password: string;
}

/**
 * Creates an account for the dashboard, with a password that is returned and not stored.
 *
 * @throws Refusal 400 for an invalid name or role, 409 when there is an account of that name
 */
export async function createOperator(
  accounts: Pick<OperatorAccountStore, 'create'>,
  actor: Actor,
  { name, role = 'viewer' }: { readonly name: string; readonly role?: string },
): Promise<OperatorWithPassword & { readonly role: string }> {
  if (!OPERATOR_NAME.test(name))
    throw new Refusal(400, '`name` must be 1 to 63 of `a-z 0-9 . _ -` and begin with a letter or a digit');
  if (!isOperatorRole(role)) throw new Refusal(400, `\`role\` must be one of ${OPERATOR_ROLES.join(', ')}`);
  const password = newSecret(SECRET_PREFIXES.operatorPassword);
  if (!(await accounts.create(actor, name, role, await hashPassword(password))))
    throw new Refusal(
      409,
      `There is an operator \`${name}\` already; give that one a new password, or take another name`,
    );
  return { name, role, password };
}

/**
 * Gives an operator a new password, and ends all sessions of the account.
 *
 * @throws Refusal 404 when there is none of that name
 */
export async function resetOperatorPassword(
  accounts: Pick<OperatorAccountStore, 'setPassword'>,
  actor: Actor,
  name: string,
): Promise<OperatorWithPassword> {
  const password = newSecret(SECRET_PREFIXES.operatorPassword);
  if (!(await accounts.setPassword(actor, name, await hashPassword(password)))) throw noSuchOperator(name);
  return { name, password };
}

/**
 * Removes an operator, and ends all sessions of the account.
 *
 * @throws Refusal 404 when there is none of that name
 */
export async function removeOperator(
  accounts: Pick<OperatorAccountStore, 'remove'>,
  actor: Actor,
  name: string,
): Promise<{ readonly name: string }> {
  if (!(await accounts.remove(actor, name))) throw noSuchOperator(name);
  return { name };
}

function noSuchOperator(name: string): Refusal {
  return new Refusal(404, `There is no operator \`${name}\`; \`operator list\` shows them all`);
}
