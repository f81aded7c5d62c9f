/** The statuses of an identity, with their meanings and what can follow. */
export const IDENTITY_STATUSES = {
  PENDING:
    'not verified yet: its record was not found, or the link in the mail not used; nothing can be sent from it',
  VERIFIED: 'may be sent from',
  AT_RISK: 'may be sent from, but its required record has been missing or wrong for a day',
  UNVERIFIED:
    'was verified; its required record was missing or wrong for three days, and nothing can be sent from it',
} as const;

export type IdentityStatus = keyof typeof IDENTITY_STATUSES;

/** Whether an identity with this status may be sent from. */
export function maySendFrom(status: IdentityStatus): boolean {
  return status === 'VERIFIED' || status === 'AT_RISK';
}
