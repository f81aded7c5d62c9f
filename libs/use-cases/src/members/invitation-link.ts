import { hashSecret, hasSecretForm, newSecret } from '@posthorn/signing';

const PREFIX = 'phi_';

/** What is in the link of a new mail; it is in that mail and nowhere else. */
export function newInvitationToken(): string {
  return newSecret(PREFIX);
}

/** By what the invitation with this token is found; undefined when it cannot be the token of one. */
export function hashOfInvitationToken(token: string): Buffer | undefined {
  return hasSecretForm(PREFIX, token) ? hashSecret(token) : undefined;
}
