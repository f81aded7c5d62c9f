import { RETRY_AFTER_SECONDS } from './delivery-verdict.ts';
import { POST_AGAIN_AFTER_SECONDS } from './webhooks/post-verdict.ts';

/** What is retried: emails, and deliveries to webhooks. */
export type RetriedQueue = 'email' | 'webhook';

/** By its schedule, how long after it was first due each retry is due, in seconds. */
export const RETRIES_DUE_AFTER_SECONDS: Readonly<Record<RetriedQueue, readonly number[]>> = {
  email: sums(RETRY_AFTER_SECONDS),
  webhook: sums(POST_AGAIN_AFTER_SECONDS),
};

function sums(delays: readonly number[]): number[] {
  let sum = 0;
  return delays.map((delay) => (sum += delay));
}
