import type { WebhookId } from '@posthorn/kernel';
import { WebhookReceiver } from '@posthorn/testing';
import { partIn } from './api.ts';
import { Stack } from './stack.ts';

/** Settings that allow webhooks over HTTP to loopback addresses. */
export const ALLOW_LOOPBACK_WEBHOOKS = {
  WEBHOOK_ALLOW_HTTP: 'true',
  WEBHOOK_ALLOWED_NETWORKS: '127.0.0.0/8',
};

/** A stack that delivers events, and a receiver for its webhooks. */
export interface Receiving {
  readonly stack: Stack;
  readonly receiver: WebhookReceiver;
  close(): Promise<void>;
}

/** @param answer of the receiver to a POST. Default: 200, at once. @param env additional settings of the apps */
export async function startReceiving(
  answer?: WebhookReceiver['answer'],
  env: Record<string, string> = {},
): Promise<Receiving> {
  const receiver = await WebhookReceiver.start(answer);
  const stack = await Stack.start({ dispatchers: 1, env: { ...ALLOW_LOOPBACK_WEBHOOKS, ...env } });
  const close = async (): Promise<void> => {
    await stack.close();
    await receiver.close();
  };
  return { stack, receiver, close };
}

/** A webhook in the answer to its creation. */
export interface CreatedWebhook {
  readonly id: WebhookId;
  readonly token: string;
}

/** Creates a webhook. Default: for `CONTACT_CREATED`. */
export async function subscribe(
  stack: Stack,
  url: string,
  { events = ['CONTACT_CREATED'], key = stack.tenant.keys.apiUser } = {},
): Promise<CreatedWebhook> {
  return partIn(await stack.api().post('/v1/webhooks', { url, events }, { key }), 'webhook');
}
