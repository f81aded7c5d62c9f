import type { WebhookReceiver } from '@posthorn/testing';
import { type Stack, until } from '../e2e/stack.ts';

/** Makes all retries due until nothing is left, and waits until every POST is answered: such tests are about what arrives, not when. */
export async function settle(stack: Stack, receivers: readonly WebhookReceiver[]): Promise<void> {
  await until(async () => {
    await stack.database.pool.query(`UPDATE outbox SET due_at = now() WHERE state = 'waiting'`);
    return (await stack.count('SELECT count(*) FROM outbox')) === 0;
  }, 'nothing is due');
  await until(() => receivers.every(({ inFlight }) => inFlight === 0), 'every POST is answered');
}
