/** The statuses of an email, with their meanings and what can follow. */
export const EMAIL_STATUSES = {
  SCHEDULED: 'waits for its time; can be moved or cancelled until it is taken up',
  SENT: 'released for delivery; retried until a server takes it or refuses it permanently',
  DELIVERED: 'the receiving server took it; a complaint may still follow',
  BOUNCED: 'the receiving side refused the recipient permanently; the address may be suppressed',
  COMPLAINED: 'the recipient reported it as unwanted; the address is suppressed',
  FAILED: 'given up for a reason other than the recipient, or after the last retry',
  SUPPRESSED:
    'not sent, because the recipient is on the suppression list of the workspace or has unsubscribed',
  CANCELLED: 'cancelled before it was taken up; does not count towards the monthly limit',
} as const;

export type EmailStatus = keyof typeof EMAIL_STATUSES;
