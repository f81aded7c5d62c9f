/** Who came to the dashboard and went, which is told with the network that they came from. */
export const SIGN_IN_ACTIONS = [
  'operator.signed_in',
  'operator.signed_out',
  'operator.sign_in_refused',
] as const;

/** Networks lead to persons, so what is told with one is not kept for ever. */
export const SIGN_INS_KEPT_DAYS = 365;

/** What the audit log tells of: each change of who may do what, and of what is sent and told to whom. */
export const AUDITED_ACTIONS = [
  'api_key.created',
  'api_key.updated',
  'api_key.deleted',
  'identity.created',
  'identity.verified',
  'identity.warned',
  'identity.recovered',
  'identity.unverified',
  'identity.rotation_begun',
  'identity.keys_switched',
  'identity.deleted',
  'email.cancelled',
  'email.moved',
  'email.sent_again',
  'template.created',
  'template.updated',
  'template.deleted',
  'webhook.created',
  'webhook.updated',
  'webhook.disabled',
  'webhook.redelivered',
  'webhook.tested',
  'webhook.recovered',
  'webhook.deleted',
  'contact.updated',
  'contact.unsubscribed',
  'contact.resubscribed',
  'contact.deleted',
  'suppression.created',
  'suppression.deleted',
  'member.invited',
  'member.invitation_resent',
  'member.invitation_revoked',
  'member.joined',
  'member.updated',
  'member.removed',
  'recipient.erased',
  'workspace.created',
  'workspace.limits_changed',
  'workspace.tracking_changed',
  'workspace.retention_changed',
  'workspace.paused',
  'workspace.resumed',
  // Of the whole installation; these stand in the log of the system's own workspace.
  'sending.paused',
  'sending.resumed',
  'database.restored',
  'operator.created',
  'operator.password_changed',
  'operator.deleted',
  ...SIGN_IN_ACTIONS,
  'secrets.rotated',
] as const;

export type AuditedAction = (typeof AUDITED_ACTIONS)[number];
