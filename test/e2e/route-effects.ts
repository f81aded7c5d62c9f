import type { AuditedAction, EventName } from '@posthorn/domain';
import type { Caller } from './openapi-routes.ts';
import { invitationToken, unsubscribeToken, verificationToken } from './factories.ts';

type Parts = Readonly<Record<string, string>>;

/** What a call of a route with its example writes. */
export interface RouteEffects {
  readonly audit?: AuditedAction | readonly AuditedAction[];
  readonly events?: readonly EventName[];
  /** The table that the change is written to; absent where it deletes. */
  readonly table?: string;
  /** Prepares more than the resources in its path. @returns the path parameters that are not ids */
  readonly before?: (caller: Caller, parts: Parts) => Promise<Parts | void>;
}

const unsubscribe: RouteEffects['before'] = async ({ api }, { contact_id: id }) => {
  await api.request('POST', `/v1/contacts/${id}/unsubscribe`, undefined);
};

const byLink: RouteEffects['before'] = async (caller) => ({ token: await unsubscribeToken(caller) });

const unsubscribeByLink: RouteEffects['before'] = async (caller) => {
  const token = await unsubscribeToken(caller);
  await caller.api.request('POST', `/unsubscribe/${token}`, undefined, { key: null });
  return { token };
};

/** Events of emails are recorded only for webhooks. */
const hearOfBounces: RouteEffects['before'] = async ({ api }) => {
  await api.post('/v1/webhooks', { url: 'https://example.com/hook', events: ['EMAIL_BOUNCED'] });
};

const invite: RouteEffects['before'] = async (caller) => ({ token: await invitationToken(caller) });

const addAddress: RouteEffects['before'] = async (caller) => ({ token: await verificationToken(caller) });

/**
 * What each route that changes something writes to the audit log and reports to webhooks, by its operation id. A new route needs a
 * line here: `{}` when it does neither.
 */
export const ROUTE_EFFECTS: Readonly<Record<string, RouteEffects>> = {
  // Emails are recorded in their timelines; a contact that an email creates is not in the audit log.
  sendEmail: { events: ['CONTACT_CREATED'], table: 'emails' },
  sendBatch: {},
  rescheduleEmail: {},
  cancelEmail: {},
  reportEmail: {
    audit: 'suppression.created',
    events: ['EMAIL_BOUNCED'],
    table: 'emails',
    before: hearOfBounces,
  },
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
  addSuppressions: { audit: ['suppression.created', 'suppression.created'], table: 'suppressions' },
  removeSuppression: { audit: 'suppression.deleted' },
  requestErasure: { audit: 'recipient.erased', table: 'erasures' },
  createApiKey: { audit: 'api_key.created', table: 'api_keys' },
  updateApiKey: { audit: 'api_key.updated', table: 'api_keys' },
  deleteApiKey: { audit: 'api_key.deleted' },
  createIdentity: { audit: 'identity.created', table: 'identities' },
  // The records of the example's domain are not found, so nothing changes.
  verifyIdentity: {},
  rotateIdentityKeys: { audit: 'identity.rotation_begun', table: 'dkim_keys' },
  deleteIdentity: { audit: 'identity.deleted' },
  confirmVerification: { audit: 'identity.verified', table: 'identities', before: addAddress },
  createWebhook: { audit: 'webhook.created', table: 'webhooks' },
  updateWebhook: { audit: 'webhook.updated', table: 'webhooks' },
  rotateWebhookToken: { audit: 'webhook.updated', table: 'webhooks' },
  deleteWebhook: { audit: 'webhook.deleted' },
  resendDelivery: { audit: 'webhook.redelivered', table: 'webhook_deliveries' },
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
