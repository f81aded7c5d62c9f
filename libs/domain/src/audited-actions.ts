/** Sign-ins to the dashboard; their audit entries include the client's network. */
export const SIGN_IN_ACTIONS = [
  'operator.signed_in',
  'operator.signed_out',
  'operator.sign_in_refused',
] as const;

/** Networks are personal data, so entries that include one are deleted after this time. */
export const SIGN_INS_KEPT_DAYS = 365;

/** The actions in the audit log: every change of permissions, and of what is sent and reported to whom. */
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
  // Of the whole installation; these are in the log of the system workspace.
  'sending.paused',
  'sending.resumed',
  'database.restored',
  'workspace.deletion_begun',
  'workspace.deleted',
  'operator.created',
  'operator.password_changed',
  'operator.deleted',
  ...SIGN_IN_ACTIONS,
  'secrets.rotated',
] as const;

export type AuditedAction = (typeof AUDITED_ACTIONS)[number];
