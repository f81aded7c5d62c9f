import { randomUUID } from 'node:crypto';
import type { Answer, Api, RequestOptions } from '../../e2e/api.ts';
import type { Tenant } from '../../e2e/stack.ts';
import { FeedFollower } from '../feed-follower.ts';
import { InsistingCaller } from '../insisting-caller.ts';
import { gatewayUrls } from '../places.ts';
import type { Cluster } from './cluster.ts';

/** What its webhooks are told: whatever its clients can cause. */
const EVENTS = [
  ...[
    'CONTACT_CREATED',
    'CONTACT_UPDATED',
    'CONTACT_UNSUBSCRIBED',
    'CONTACT_RESUBSCRIBED',
    'CONTACT_DELETED',
  ],
  ...['EMAIL_SENT', 'EMAIL_DELAYED', 'EMAIL_BOUNCED', 'EMAIL_FAILED', 'EMAIL_DELIVERED', 'EMAIL_COMPLAINED'],
];

/** A workspace with clients, and with a webhook at each receiver. */
export class Account {
  readonly caller: InsistingCaller;
  readonly webhookIds: string[] = [];
  /** Whatever its webhooks were told to sign with. */
  readonly tokens: string[] = [];
  readonly receiverUrls: readonly string[];

  private constructor(
    readonly tenant: Tenant,
    /** The most emails that it may send. */
    readonly limit: number | null,
    cluster: Cluster,
  ) {
    this.caller = new InsistingCaller(() => gatewayUrls(cluster.places), tenant.keys.apiUser);
    this.receiverUrls = cluster.receivers.map((receiver) => receiver.url('/hook'));
  }

  static async open(cluster: Cluster, tenant: Tenant, limit: number | null): Promise<Account> {
    const account = new Account(tenant, limit, cluster);
    for (const url of account.receiverUrls)
      account.webhookIds.push(idOfWebhook(await account.createWebhook(url)));
    return account;
  }

  createWebhook(url: string): Promise<Answer> {
    return this.post('/v1/webhooks', { url, events: EVENTS, token: this.newToken() });
  }

  newToken(): string {
    const token = randomUUID();
    this.tokens.push(token);
    return token;
  }

  /** Deletes the webhooks that are there because the answer to their creation was lost. */
  async deleteUnknownWebhooks(): Promise<void> {
    const { items } = (await this.get('/v1/webhooks?limit=100')).body['webhooks'] as {
      items: { id: string }[];
    };
    for (const { id } of items) if (!this.webhookIds.includes(id)) await this.delete(`/v1/webhooks/${id}`);
  }

  /** Posts until it is answered. */
  post(path: string, body: unknown, options: RequestOptions = {}): Promise<Answer> {
    return this.insist((api) => api.post(path, body, options));
  }

  get(path: string, options: RequestOptions = {}): Promise<Answer> {
    return this.insist((api) => api.get(path, options));
  }

  delete(path: string, options: RequestOptions = {}): Promise<Answer> {
    return this.insist((api) => api.send('DELETE', path, undefined, options));
  }

  insist(ask: (api: Api) => Promise<Answer>, first = 0): Promise<Answer> {
    return this.caller.insist(ask, first);
  }

  follower(): FeedFollower {
    return new FeedFollower((path) => this.get(path));
  }
}

export function idOfWebhook({ body }: Answer): string {
  return (body['webhook'] as { id: string }).id;
}
