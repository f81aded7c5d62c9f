import type { ApiKeyId, UserId } from '@posthorn/kernel';

/** Who changed something: a key of the workspace, a person, an operator, the recipient of an email, or Posthorn itself. */
export type Actor =
  | { readonly kind: 'api_key'; readonly id: ApiKeyId; readonly name: string }
  | { readonly kind: 'user'; readonly id: UserId; readonly name: string }
  | { readonly kind: 'operator'; readonly name: string }
  | { readonly kind: 'recipient'; readonly name: 'recipient' }
  | { readonly kind: 'system'; readonly name: 'posthorn' };

/** An operator, by the name of the system account (command line) or of the dashboard account. */
export function operator(name: string): Actor {
  return { kind: 'operator', name };
}

/** Whoever opened a link of an email; nothing more is known about them. */
export const RECIPIENT: Actor = { kind: 'recipient', name: 'recipient' };

/** Posthorn itself, acting without a request. */
export const POSTHORN: Actor = { kind: 'system', name: 'posthorn' };
