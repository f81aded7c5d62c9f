import type { ContactStatus } from '@posthorn/domain';
import type { Subscription, SubscriptionStore } from '@posthorn/database';
import type { UnsubscribeLinks } from './unsubscribe-links.ts';

interface ChangeSubscriptionOptions {
  readonly subscriptions: Pick<SubscriptionStore, 'find' | 'setStatus'>;
  readonly links: Pick<UnsubscribeLinks, 'emailOf'>;
}

/** What whoever has an email's link can do, without a key. Undefined: the token is none of ours, or its email is gone. */
export class ChangeSubscription {
  constructor(private readonly options: ChangeSubscriptionOptions) {}

  /** Whether the recipient is subscribed. Programs open links to look at them, so this changes nothing. */
  async look(token: string): Promise<Subscription | undefined> {
    const email = this.options.links.emailOf(token);
    return email && this.options.subscriptions.find(email);
  }

  /** Unsubscribes or resubscribes the recipient; the same again changes nothing. */
  async setStatus(token: string, status: ContactStatus): Promise<Subscription | undefined> {
    const email = this.options.links.emailOf(token);
    return email && this.options.subscriptions.setStatus(email, status);
  }
}
