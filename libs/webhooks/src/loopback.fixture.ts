import { parseAddressRange, type WebhookUrlPolicy } from '@posthorn/domain';
import { expect } from '@jest/globals';
import { sleep } from '@posthorn/kernel';
import type { WebhookClient, WebhookClientOptions } from './webhook-client.ts';

/** Lets tests post to this machine. */
export const LOOPBACK: WebhookUrlPolicy = {
  allowsHttp: true,
  networks: ['127.0.0.0/8', '::1'].map((range) => parseAddressRange(range)!),
};

export const BODY = Buffer.from('{"event":"CONTACT_CREATED","data":{"name":"Zoë"}}');

/** A deadline that nothing reaches which does not wait for it, however busy the machine is; in milliseconds. */
export const PATIENT_MS = 60_000;

/** One that is waited for: long enough for a request to have been sent before it on a busy machine. */
export const HASTY_MS = 3_000;

/** What a busy machine may add to a deadline, in milliseconds. */
export const SLACK_MS = 60_000;

/** Of a test that gives addresses and no names. */
export const noNames: WebhookClientOptions['lookUp'] = () => Promise.reject(new Error('no name was given'));

/** Looks names up in a table that the test may change. */
export function namesIn(table: Record<string, readonly string[]>): WebhookClientOptions['lookUp'] {
  return (name) => {
    const addresses = table[name];
    return Promise.resolve(addresses === undefined ? { kind: 'absent' } : { kind: 'found', addresses });
  };
}

/** A failure as it is expected. */
export function failed(errorClass: string, reason: string | RegExp): object {
  return { kind: 'failed', errorClass, reason: expect.stringMatching(reason) };
}

interface Receiver {
  /** Resolves when no client is connected any more. */
  allDisconnected(): Promise<void>;
}

/** Sees to it that neither side has a socket left, once the client has closed those that it kept. */
export async function expectNoSockets(client: WebhookClient, ...receivers: Receiver[]): Promise<void> {
  client.closeIdle();
  await Promise.all(receivers.map((receiver) => receiver.allDisconnected()));
  // One side hears of an end a little later than the other.
  for (let n = 0; n < 1_000 && client.connections.open > 0; n += 1) await sleep(10);
  expect(client.connections).toEqual({ open: 0, idle: 0 });
}
