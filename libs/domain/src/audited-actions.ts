/** What the audit log tells of: each change of who may do what, and of what is sent and told to whom. */
export const AUDITED_ACTIONS = [
  'api_key.created',
  'api_key.updated',
  'api_key.deleted',
  'identity.created',
  'identity.verified',
  'identity.unverified',
  'identity.deleted',
  'template.created',
  'template.updated',
  'template.deleted',
  'webhook.created',
  'webhook.updated',
  'webhook.deleted',
  'member.invited',
  'member.invitation_resent',
  'member.invitation_revoked',
  'member.joined',
  'member.updated',
  'member.removed',
  'workspace.created',
  'workspace.limits_changed',
] as const;

export type AuditedAction = (typeof AUDITED_ACTIONS)[number];
