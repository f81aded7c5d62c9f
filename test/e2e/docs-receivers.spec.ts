import { type ChildProcess, spawn } from 'node:child_process';
import { createHmac } from 'node:crypto';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { afterAll, describe, expect, it } from '@jest/globals';
import { freePort } from '@posthorn/testing';
import { examplesOf, type Fence } from './docs/fences.ts';
import { cleanEnv, itWithExample, prepare } from './docs/runners.ts';
import { ALLOW_LOOPBACK_WEBHOOKS, newRecipient, Stack, until } from './stack.ts';

/** Forged POSTs. */
const BODY = '{"event":"FORGED"}';

const RECEIVERS = examplesOf('docs/receiving-webhooks.md');

let folder: string;
const stack = Stack.forTests(() => {
  folder = mkdtempSync(join(tmpdir(), 'posthorn-docs-'));
  return { dispatchers: 1, env: ALLOW_LOOPBACK_WEBHOOKS };
});
afterAll(() => rmSync(folder, { recursive: true }));

describe('W5, W6: the receivers of the documents', () => {
  it('exist in every language', () => {
    expect(RECEIVERS.map(({ language }) => language)).toEqual(['ts', 'python', 'go']);
  });

  for (const example of RECEIVERS)
    itWithExample('take what is genuine, once, and refuse the rest', example, () => holds(example));
});

async function holds(example: Fence): Promise<void> {
  const port = await freePort();
  const url = `http://127.0.0.1:${port}/`;
  const added = await stack.api().post('/v1/webhooks', { url, events: ['CONTACT_CREATED'] });
  const { id, token } = added.body['webhook'] as { id: string; token: string };
  const { command, args } = await prepare(example, folder);
  const env = cleanEnv({ PORT: String(port), POSTHORN_WEBHOOK_TOKEN: token });
  const child = spawn(command, args, { env });
  try {
    const printed = outputOf(child);
    await until(
      () =>
        fetch(url, { method: 'POST', body: '{}' }).then(
          () => true,
          () => false,
        ),
      'it listens',
    );
    await stack.api().post('/v1/contacts', { email: newRecipient() });
    await until(() => printed().includes('CONTACT_CREATED\n'), 'it has heard of the contact');
    await takesEachOnce(id, printed);
    await outlivesWhoHangsUp(port);
    await takesNoEndlessBody(port);
    await refusesTheRest(url, token);
  } finally {
    child.kill('SIGKILL');
    await stack.api().request('DELETE', `/v1/webhooks/${id}`, undefined);
  }
}

async function takesEachOnce(id: string, printed: () => string): Promise<void> {
  const deliveries = async (): Promise<{ id: string; status: string; attempts: number }[]> => {
    const answer = await stack.api().get(`/v1/webhooks/${id}/deliveries`);
    return (answer.body['deliveries'] as { items: { id: string; status: string; attempts: number }[] }).items;
  };
  await until(async () => (await deliveries())[0]?.status === 'SUCCEEDED', 'the delivery has succeeded');
  const [delivery] = await deliveries();
  await stack.api().post(`/v1/webhooks/${id}/deliveries/${delivery!.id}/redeliver`, {});
  await until(async () => (await deliveries())[0]?.status === 'SUCCEEDED', 'it has succeeded again');
  expect(printed()).toBe('CONTACT_CREATED\n');
}

/** Anybody can connect to a receiver, and hang up in the middle of a request. */
async function outlivesWhoHangsUp(port: number): Promise<void> {
  const socket = connect(port, '127.0.0.1');
  await once(socket, 'connect');
  await new Promise((resolve) =>
    socket.write('POST / HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 100\r\n\r\n{', resolve),
  );
  await setTimeout(200); // until it has begun to read the body
  socket.resetAndDestroy();
  await setTimeout(200);
}

/** An endless POST would otherwise fill the memory. */
async function takesNoEndlessBody(port: number): Promise<void> {
  const piece = Buffer.alloc(0x10_0000, ' ');
  const pieces: [string, Buffer][] = [
    ['Content-Length: 1000000000', piece],
    ['Transfer-Encoding: chunked', Buffer.concat([Buffer.from('100000\r\n'), piece, Buffer.from('\r\n')])],
  ];
  for (const [header, bytes] of pieces) {
    const socket = connect(port, '127.0.0.1')
      .on('error', () => undefined)
      .resume();
    const happens = (event: string): Promise<unknown> =>
      new Promise((resolve) => socket.once(event, resolve));
    const closed = happens('close');
    socket.write(`POST / HTTP/1.1\r\nHost: 127.0.0.1\r\n${header}\r\n\r\n`);
    let sent = 0;
    while (!socket.destroyed && sent < 64) {
      sent += 1;
      if (!socket.write(bytes)) await Promise.race([happens('drain'), closed]);
    }
    expect([header, sent < 64]).toEqual([header, true]);
    socket.destroy();
  }
}

async function refusesTheRest(url: string, token: string): Promise<void> {
  /** Now: the requests before may have taken long. */
  const inSeconds = (seconds: number): number => Math.floor(Date.now() / 1_000) + seconds;
  const post = async (headers: Record<string, string>): Promise<number> =>
    (await fetch(url, { method: 'POST', body: BODY, headers })).status;
  const signed = (id: string, time: number | string): Record<string, string> => ({
    'webhook-id': id,
    'webhook-timestamp': String(time),
    'webhook-signature': `v1,AAAA v1,${createHmac('sha256', token).update(`${id}.${time}.${BODY}`).digest('base64')}`,
  });
  expect(await post(signed('evt_1', inSeconds(0)))).toBe(204);
  for (const seconds of [-301, 310]) expect(await post(signed('evt_2', inSeconds(seconds)))).toBe(401);
  for (const time of ['soon', '']) expect(await post(signed('evt_2', time))).toBe(401);
  const { 'webhook-signature': _left, ...unsigned } = signed('evt_3', inSeconds(0));
  for (const headers of [{}, unsigned, { ...signed('evt_4', inSeconds(0)), 'webhook-id': 'evt_5' }])
    expect(await post(headers)).toBe(401);
}

function outputOf(child: ChildProcess): () => string {
  let output = '';
  child.stdout!.on('data', (bytes: Buffer) => (output += bytes.toString()));
  return () => output;
}
