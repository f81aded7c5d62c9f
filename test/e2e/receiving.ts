import type { WebhookId } from '@posthorn/kernel';
import { WebhookReceiver } from '@posthorn/testing';
import { Stack } from './stack.ts';

/** Lets webhooks lead to receivers of this machine. */
export const TO_THIS_MACHINE = { WEBHOOK_ALLOW_HTTP: 'true', WEBHOOK_ALLOWED_NETWORKS: '127.0.0.0/8' };

/** A stack that delivers events, and a receiver for its webhooks. */
export interface Receiving {
  readonly stack: Stack;
  readonly receiver: WebhookReceiver;
  close(): Promise<void>;
}

/** @param answer what the receiver does with a POST. Default: 200, at once. @param env more settings of the apps */
export async function startReceiving(
  answer?: WebhookReceiver['answer'],
  env: Record<string, string> = {},
): Promise<Receiving> {
  const receiver = await WebhookReceiver.start(answer);
  const stack = await Stack.start({ dispatchers: 1, env: { ...TO_THIS_MACHINE, ...env } });
  const close = async (): Promise<void> => {
    await stack.close();
    await receiver.close();
  };
  return { stack, receiver, close };
}

/** A webhook as its creation shows it. */
export interface CreatedWebhook {
  readonly id: WebhookId;
  readonly token: string;
}

/** Subscribes a URL to contacts that are created, unless it is to other events. */
export async function subscribe(
  stack: Stack,
  url: string,
  { events = ['CONTACT_CREATED'], key = stack.tenant.keys.apiUser } = {},
): Promise<CreatedWebhook> {
  const { status, text, body } = await stack.api().post('/v1/webhooks', { url, events }, { key });
  if (status !== 200) throw new Error(`${status}: ${text}`);
  return body['webhook'] as CreatedWebhook;
}
