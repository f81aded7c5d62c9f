import { Refusal } from '@posthorn/kernel';
import { type RateLimit, wholeSeconds } from '@posthorn/domain';
import type { Subscription, SubscriptionStore } from '@posthorn/database';
import type { RateLimiter } from '@posthorn/queues';
import type { UnsubscribeLinks } from './unsubscribe-links.ts';

interface ChangeSubscriptionOptions {
  readonly subscriptions: Pick<SubscriptionStore, 'find' | 'setStatus'>;
  readonly links: Pick<UnsubscribeLinks, 'emailOf'>;
  readonly limiter: Pick<RateLimiter, 'judge'>;
}

const POLICY = 'resubscribe';
/** Of one link. Each time is recorded and told, and so is unsubscribing after it: nobody is to make us write without end. */
const RESUBSCRIPTIONS: RateLimit = { amount: 10, periodSeconds: 3_600, burst: 10 };

/** What whoever has an email's link can do, without a key. Undefined: the token is none of ours, or its email is gone. */
export class ChangeSubscription {
  constructor(private readonly options: ChangeSubscriptionOptions) {}

  /** Whether the recipient is subscribed. Programs open links to look at them, so this changes nothing. */
  async look(token: string): Promise<Subscription | undefined> {
    const email = this.options.links.emailOf(token);
    return email && this.options.subscriptions.find(email);
  }

  /** Unsubscribes the recipient, however often it was asked for; the same again changes nothing. */
  async unsubscribe(token: string): Promise<Subscription | undefined> {
    const email = this.options.links.emailOf(token);
    return email && this.options.subscriptions.setStatus(email, 'UNSUBSCRIBED');
  }

  /** Subscribes the recipient again; the same again changes nothing. @throws Refusal (429) when the link was used for it too often */
  async resubscribe(token: string): Promise<Subscription | undefined> {
    const email = this.options.links.emailOf(token);
    if (email === undefined) return undefined;
    const { allowed, nextAfterMs } = await this.options.limiter.judge(POLICY, email, RESUBSCRIPTIONS);
    if (!allowed) throw tooManyResubscriptions(wholeSeconds(nextAfterMs));
    return this.options.subscriptions.setStatus(email, 'SUBSCRIBED');
  }
}

/** A link was used too often to subscribe again. */
export function tooManyResubscriptions(retryAfterSeconds: number): Refusal {
  return new Refusal(
    429,
    `The link was used too often to subscribe again; wait ${retryAfterSeconds} seconds and try again`,
    { retryAfterSeconds },
  );
}
