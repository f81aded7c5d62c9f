import { randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from '@jest/globals';
import { freePort } from '@posthorn/testing';
import { Mailbox } from '../../tools/inbox/mailbox.mjs';
import { createReceiver } from '../../tools/inbox/receive.mjs';
import { ReturnedMail } from '../../tools/inbox/returned-mail.mjs';
import { emailIn } from './api.ts';
import { Stack, until, validEmail } from './stack.ts';

let folder: string;
let inbox: ReturnType<typeof createReceiver>;
const stack = Stack.forTests(async () => {
  folder = mkdtempSync(join(tmpdir(), 'inbox-'));
  const inboundPort = await freePort();
  inbox = createReceiver(new Mailbox(folder), new ReturnedMail(inboundPort));
  await new Promise<void>((resolve) => inbox.listen(0, '127.0.0.1', resolve));
  const { port } = inbox.server.address() as AddressInfo;
  return {
    smtpUrl: () => `smtp://127.0.0.1:${port}`,
    env: { BOUNCE_DOMAIN: 'bounces.localhost', INBOUND_HOST: '127.0.0.1', INBOUND_PORT: String(inboundPort) },
  };
});
afterAll(async () => {
  await new Promise<void>((resolve) => inbox.close(resolve));
  rmSync(folder, { recursive: true });
});

const send = async (name: string): Promise<string> =>
  emailIn(await stack.send({ ...validEmail(), to: `${name}+${randomUUID()}@example.net` })).id;

describe('The inbox of npm run up, about emails that it has accepted', () => {
  const REPORTED: readonly (readonly [string, string, object])[] = [
    ['bounced-later', 'BOUNCED', { report: 'failed', class: 'unknown_user', reply: { code: 550 } }],
    ['Complained', 'COMPLAINED', { report: 'complaint' }],
    ['delivered', 'DELIVERED', { report: 'delivered' }],
  ];

  it('reports what their recipients’ names say, as soon as inbound receives it', async () => {
    const ids = await Promise.all(REPORTED.map(([name]) => send(name)));
    for (const id of ids)
      await until(async () => (await stack.show(id)).timeline.length === 2, 'the email is sent');
    await stack.startApp('inbound');
    for (const [index, [name, status, reported]] of REPORTED.entries()) {
      await until(async () => (await stack.show(ids[index]!)).status === status, `${name} is ${status}`);
      const { timeline } = await stack.show(ids[index]!);
      expect(timeline.map(({ event }) => event)).toEqual(['ACCEPTED', 'SENT', status]);
      expect(timeline.at(-1)).toMatchObject(reported);
    }
  });
});
