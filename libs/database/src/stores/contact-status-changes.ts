/** What a contact's new status is told as, to webhooks and in the audit log. */
export const CONTACT_STATUS_CHANGES = {
  SUBSCRIBED: { event: 'CONTACT_RESUBSCRIBED', action: 'contact.resubscribed' },
  UNSUBSCRIBED: { event: 'CONTACT_UNSUBSCRIBED', action: 'contact.unsubscribed' },
} as const;
