import type { ApiKeyId, UserId } from '@posthorn/kernel';

/** Who changed something: a key of the workspace, a person, an operator, the recipient of an email, or Posthorn itself. */
export type Actor =
  | { readonly kind: 'api_key'; readonly id: ApiKeyId; readonly name: string }
  | { readonly kind: 'user'; readonly id: UserId; readonly name: string }
  | { readonly kind: 'operator'; readonly name: string }
  | { readonly kind: 'recipient'; readonly name: 'recipient' }
  | { readonly kind: 'system'; readonly name: 'posthorn' };

/** Who changes something from the command line, named as the account of the machine, or from the dashboard, named as their own account. */
export function operator(name: string): Actor {
  return { kind: 'operator', name };
}

/** Who has the link in an email, which says no more of them. */
export const RECIPIENT: Actor = { kind: 'recipient', name: 'recipient' };

/** Posthorn, where nobody asked. */
export const POSTHORN: Actor = { kind: 'system', name: 'posthorn' };
