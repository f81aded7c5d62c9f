import type { AuditedAction, EventName } from '@posthorn/domain';
import type { Caller } from './described.ts';
import { invitationToken, unsubscribeToken, verificationToken } from './makers.ts';

type Parts = Readonly<Record<string, string>>;

/** What the example of a route writes. */
export interface Recorded {
  readonly audit?: AuditedAction;
  readonly events?: readonly EventName[];
  /** The table that the change itself is in; absent where it deletes. */
  readonly table?: string;
  /** What must be there before, beside what the ids of its path stand for. Gives the parts of the path that are no ids. */
  readonly before?: (caller: Caller, parts: Parts) => Promise<Parts | void>;
}

const unsubscribe: Recorded['before'] = async ({ api }, { contact_id: id }) => {
  await api.request('POST', `/v1/contacts/${id}/unsubscribe`, undefined);
};

const byLink: Recorded['before'] = async (caller) => ({ token: await unsubscribeToken(caller) });

const unsubscribeByLink: Recorded['before'] = async (caller) => {
  const token = await unsubscribeToken(caller);
  await caller.api.request('POST', `/unsubscribe/${token}`, undefined, { key: null });
  return { token };
};

const invite: Recorded['before'] = async (caller) => ({ token: await invitationToken(caller) });

const addAddress: Recorded['before'] = async (caller) => ({ token: await verificationToken(caller) });

/**
 * What each route that changes something tells the audit log and the webhooks, by the name of its operation. A new route needs a
 * line here: `{}` when it tells nobody.
 */
export const RECORDED: Readonly<Record<string, Recorded>> = {
  // An email is told of in its timeline; its contact is no change that somebody made of the workspace.
  sendEmail: { events: ['CONTACT_CREATED'], table: 'emails' },
  sendBatch: {},
  rescheduleEmail: {},
  cancelEmail: {},
  previewTemplate: {},
  sendTestEmail: {},
  createTemplate: { audit: 'template.created', table: 'templates' },
  updateTemplate: { audit: 'template.updated', table: 'templates' },
  deleteTemplate: { audit: 'template.deleted', table: 'templates' },
  upsertContact: { events: ['CONTACT_CREATED'], table: 'contacts' },
  upsertContacts: { events: ['CONTACT_CREATED', 'CONTACT_CREATED'], table: 'contacts' },
  updateContact: { audit: 'contact.updated', events: ['CONTACT_UPDATED'], table: 'contacts' },
  unsubscribeContact: { audit: 'contact.unsubscribed', events: ['CONTACT_UNSUBSCRIBED'], table: 'contacts' },
  resubscribeContact: {
    audit: 'contact.resubscribed',
    events: ['CONTACT_RESUBSCRIBED'],
    table: 'contacts',
    before: unsubscribe,
  },
  unsubscribeByLink: {
    audit: 'contact.unsubscribed',
    events: ['CONTACT_CREATED', 'CONTACT_UNSUBSCRIBED'],
    table: 'contacts',
    before: byLink,
  },
  resubscribeByLink: {
    audit: 'contact.resubscribed',
    events: ['CONTACT_RESUBSCRIBED'],
    table: 'contacts',
    before: unsubscribeByLink,
  },
  deleteContact: { audit: 'contact.deleted', events: ['CONTACT_DELETED'] },
  addSuppression: { audit: 'suppression.created', table: 'suppressions' },
  removeSuppression: { audit: 'suppression.deleted' },
  createApiKey: { audit: 'api_key.created', table: 'api_keys' },
  updateApiKey: { audit: 'api_key.updated', table: 'api_keys' },
  deleteApiKey: { audit: 'api_key.deleted' },
  createIdentity: { audit: 'identity.created', table: 'identities' },
  // A domain whose records are not found stays as it is.
  verifyIdentity: {},
  rotateIdentityKeys: { audit: 'identity.rotation_begun', table: 'dkim_keys' },
  deleteIdentity: { audit: 'identity.deleted' },
  confirmVerification: { audit: 'identity.verified', table: 'identities', before: addAddress },
  createWebhook: { audit: 'webhook.created', table: 'webhooks' },
  updateWebhook: { audit: 'webhook.updated', table: 'webhooks' },
  rotateWebhookToken: { audit: 'webhook.updated', table: 'webhooks' },
  deleteWebhook: { audit: 'webhook.deleted' },
  redeliver: { audit: 'webhook.redelivered', table: 'webhook_deliveries' },
  recoverDeliveries: { audit: 'webhook.recovered', table: 'webhook_recoveries' },
  testWebhook: { audit: 'webhook.tested', events: ['CONTACT_CREATED'], table: 'webhook_deliveries' },
  createInvitation: { audit: 'member.invited', table: 'invitations' },
  resendInvitation: { audit: 'member.invitation_resent', table: 'invitations' },
  revokeInvitation: { audit: 'member.invitation_revoked', table: 'invitations' },
  acceptInvitation: {
    audit: 'member.joined',
    events: ['WORKSPACE_TEAM_MEMBER_JOINED'],
    table: 'memberships',
    before: invite,
  },
  updateMember: { audit: 'member.updated', table: 'memberships' },
  removeMember: { audit: 'member.removed' },
};
