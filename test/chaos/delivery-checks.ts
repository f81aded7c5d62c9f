import { expect } from '@jest/globals';
import { idFromUuid } from '@posthorn/kernel';
import type { WebhookReceiver } from '@posthorn/testing';
import type { Stack } from '../e2e/stack.ts';

/** The ids of the deliveries that are recorded as succeeded now. */
export async function recordedDeliveries(stack: Stack): Promise<Set<string>> {
  const { rows } = await stack.database.pool.query<{ id: string }>(
    `SELECT id FROM webhook_deliveries WHERE status = 'SUCCEEDED'`,
  );
  return new Set(rows.map(({ id }) => idFromUuid('dlv', id)));
}

/** Checks that each delivery that was recorded when a process died was posted exactly once: only those in flight may be posted again. */
export function expectPostedOnce(receiver: WebhookReceiver, recordedThen: ReadonlySet<string>): void {
  const posts = new Map<string, number>();
  for (const { headers } of receiver.posts) {
    const id = String(headers['x-service-delivery-id']);
    posts.set(id, (posts.get(id) ?? 0) + 1);
  }
  expect(recordedThen.size).toBeGreaterThan(0);
  expect([...recordedThen].filter((id) => posts.get(id) !== 1)).toEqual([]);
}
