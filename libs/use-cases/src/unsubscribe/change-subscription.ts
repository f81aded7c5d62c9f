import { Refusal } from '@posthorn/kernel';
import { type RateLimit, wholeSeconds } from '@posthorn/domain';
import type { Subscription, SubscriptionStore } from '@posthorn/database';
import type { RateLimiter } from '@posthorn/queues';
import type { UnsubscribeLinks } from './unsubscribe-links.ts';

interface ChangeSubscriptionOptions {
  readonly subscriptions: Pick<SubscriptionStore, 'find' | 'setStatus'>;
  readonly links: Pick<UnsubscribeLinks, 'emailOf'>;
  readonly limiter: Pick<RateLimiter, 'takeToken'>;
}

const POLICY = 'resubscribe';
/**
 * Per link. Each resubscription, and each unsubscription after it, is recorded and reported as an event, so unlimited repetition would
 * cause unlimited writes.
 */
const RESUBSCRIPTIONS: RateLimit = { amount: 10, periodSeconds: 3_600, burst: 10 };

/**
 * What anybody with the unsubscribe link of an email can do, without an API key. Undefined: the token is not valid, or its email was
 * removed.
 */
export class ChangeSubscription {
  constructor(private readonly options: ChangeSubscriptionOptions) {}

  /** Whether the recipient is subscribed. Changes nothing, because mail scanners open links. */
  async find(token: string): Promise<Subscription | undefined> {
    const email = this.options.links.emailOf(token);
    return email && this.options.subscriptions.find(email);
  }

  /** Unsubscribes the recipient; idempotent. */
  async unsubscribe(token: string): Promise<Subscription | undefined> {
    const email = this.options.links.emailOf(token);
    return email && this.options.subscriptions.setStatus(email, 'UNSUBSCRIBED');
  }

  /** Subscribes the recipient again; idempotent. @throws Refusal (429) when the link was used for this too often */
  async resubscribe(token: string): Promise<Subscription | undefined> {
    const email = this.options.links.emailOf(token);
    if (email === undefined) return undefined;
    const { allowed, nextAfterMs } = await this.options.limiter.takeToken(POLICY, email, RESUBSCRIPTIONS);
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
