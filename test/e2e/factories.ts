import { randomUUID } from 'node:crypto';
import type { WebhookId } from '@posthorn/kernel';
import { type Answer, partIn } from './api.ts';
import { addDelivery, newestWebhook } from './deliveries.ts';
import type { Caller } from './openapi-routes.ts';
import { newRecipient, validEmail } from './stack.ts';
import { validTemplate } from './templates.ts';
import { DAY_MS, fromNow } from './times.ts';

/** Creates something in a caller's workspace. @returns its id */
type Factory = (caller: Caller) => Promise<string>;

/** The token of the link in an invitation. */
export async function invitationToken({ api, stack }: Caller): Promise<string> {
  const email = newRecipient();
  await api.post('/v1/invitations', { email, role: 'VIEWER' });
  return (await stack.linkMailedTo(email)).split('/').at(-1)!;
}

/** The token of the link that verifies an address. */
export async function verificationToken({ api, stack }: Caller): Promise<string> {
  const address = newRecipient();
  await api.post('/v1/identities', { address });
  return (await stack.linkMailedTo(address)).split('/').at(-1)!;
}

/** The time in 24 hours. */
export function tomorrow(): string {
  return fromNow(DAY_MS);
}

/** The token of the link (`c`) or of the image (`o`) of a tracked email. */
export async function trackingToken({ api }: Pick<Caller, 'api'>, what: 'c' | 'o'): Promise<string> {
  const html = '<a href="https://example.com/">x</a>';
  const settings = { trackClicks: true, trackOpens: true };
  const body = { ...validEmail(), html, sendAt: tomorrow(), settings };
  const id = idIn(await api.post('/v1/emails', body), 'email');
  const { text } = await api.get(`/v1/emails/${id}/preview`);
  return new RegExp(`/t/${what}/(ph${what}_[\\w-]+)`).exec(text)![1]!;
}

/** The token of an email's unsubscribe link. */
export async function unsubscribeToken({ api }: Pick<Caller, 'api'>): Promise<string> {
  const settings = { unsubscribe: true };
  const id = idIn(await api.post('/v1/emails', { ...validEmail(), sendAt: tomorrow(), settings }), 'email');
  const { text } = await api.get(`/v1/emails/${id}/preview`);
  return /List-Unsubscribe: <[^>]+\/(phu_[\w-]+)>/.exec(text)![1]!;
}

/** How to create a resource of each id prefix, through the API where possible. A route with an id of another prefix needs a line here. */
const FACTORIES: Readonly<Record<string, Factory>> = {
  wrk: ({ tenant }) => Promise.resolve(tenant.workspaceId),
  aki: async ({ api, tenant: { workspaceId } }) =>
    idIn(await api.post(`/v1/workspaces/${workspaceId}/api-keys`, { displayName: 'Made' }), 'apiKey'),
  trs: async ({ api }) => {
    const answer = await api.post('/v1/emails', { ...validEmail(), sendAt: tomorrow() });
    return idIn(answer, 'email');
  },
  ctc: async ({ api }) =>
    idIn(await api.post('/v1/contacts', { email: `${randomUUID()}@receiver.example` }), 'contact'),
  wh: async ({ api }) => {
    const url = 'https://example.com/webhooks';
    return idIn(await api.post('/v1/webhooks', { url, events: ['CONTACT_CREATED'] }), 'webhook');
  },
  idn: async ({ api }) =>
    idIn(await api.post('/v1/identities', { domain: `${randomUUID()}.example.com` }), 'identity'),
  tpl: async ({ api }) => {
    const change = { defaults: { firstName: 'friend' } };
    return idIn(await api.post('/v1/templates', validTemplate(change)), 'template');
  },
  sup: async ({ api }) => idIn(await api.post('/v1/suppressions', { email: newRecipient() }), 'suppression'),
  inv: async ({ api }) => {
    const body = { email: newRecipient(), role: 'API_USER' };
    return idIn(await api.post('/v1/invitations', body), 'invitation');
  },
  usr: async ({ api, stack }) => {
    const body = { email: newRecipient(), role: 'API_USER' };
    idIn(await api.post('/v1/invitations', body), 'invitation');
    await api.request('POST', await stack.linkMailedTo(body.email), undefined, { key: null });
    const { members } = (await api.get('/v1/members?limit=1')).body as {
      members: { items: { id: string }[] };
    };
    return members.items[0]!.id;
  },
  dlv: async (caller) => addDelivery(caller.stack, caller.tenant.workspaceId, await webhookOf(caller)),
  ers: async ({ api }) => idIn(await api.post('/v1/erasures', { email: newRecipient() }), 'erasure'),
  rcv: async (caller) => {
    const path = `/v1/webhooks/${await webhookOf(caller)}/recover`;
    return idIn(await caller.api.post(path, { since: '2025-01-31' }), 'recovery');
  },
};

/** The newest webhook, which is the one in the same path; creates one if there is none. */
async function webhookOf(caller: Caller): Promise<WebhookId> {
  const newest = await newestWebhook(caller.stack, caller.tenant.workspaceId);
  return newest ?? ((await make('wh', caller)) as WebhookId);
}

/** Creates a resource whose ids have this prefix. @throws when there is no factory for it */
export function make(prefix: string, caller: Caller): Promise<string> {
  const factory = FACTORIES[prefix];
  if (factory === undefined)
    throw new Error(`no factory makes ids with the prefix ${prefix}: add a line to FACTORIES`);
  return factory(caller);
}

function idIn(answer: Answer, name: string): string {
  return partIn<{ id: string }>(answer, name).id;
}
