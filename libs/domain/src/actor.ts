import type { ApiKeyId, UserId } from '@posthorn/kernel';

/** Who changed something: a key of the workspace, a person, an operator, the recipient of an email, or Posthorn itself. */
export type Actor =
  | { readonly kind: 'api_key'; readonly id: ApiKeyId; readonly name: string }
  | { readonly kind: 'user'; readonly id: UserId; readonly name: string }
  | { readonly kind: 'operator'; readonly name: string }
  | { readonly kind: 'recipient'; readonly name: 'recipient' }
  | { readonly kind: 'system'; readonly name: 'posthorn' };

/** An operator: at the command line under the name of the machine's account, in the dashboard under the name of their own. */
export function operator(name: string): Actor {
  return { kind: 'operator', name };
}

/** Whoever followed a link in an email; nothing more is known of them. */
export const RECIPIENT: Actor = { kind: 'recipient', name: 'recipient' };

/** Posthorn, where nobody asked. */
export const POSTHORN: Actor = { kind: 'system', name: 'posthorn' };
