import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { sleep } from '@posthorn/kernel';
import { HostileReceiver } from '@posthorn/testing';
import { BODY, expectNoSockets, failed, LOOPBACK, namesIn, PATIENT_MS } from './loopback.fixture.ts';
import type { PostResult } from './post-request.ts';
import { WebhookClient } from './webhook-client.ts';

const MAX_IDLE = 5;
const NAME = 'receiver.example';

let receiver: HostileReceiver;
let other: HostileReceiver;
let client: WebhookClient;
const table: Record<string, string[]> = {};
beforeEach(async () => {
  receiver = await HostileReceiver.start();
  // The same port of another address: the same origin, once the name leads there.
  other = await HostileReceiver.start({ host: '127.0.0.2', port: receiver.port });
  client = new WebhookClient({ policy: LOOPBACK, lookUp: namesIn(table), maxIdle: MAX_IDLE });
  table[NAME] = ['127.0.0.1'];
});
afterEach(async () => {
  client.close();
  await Promise.all([receiver.close(), other.close()]);
});

const post = (path: string, host = NAME): Promise<PostResult> =>
  client.post({ url: receiver.url(path, host), headers: {}, body: BODY, deadlineMs: PATIENT_MS });

describe('a connection', () => {
  it('is reused for the same origin and address', async () => {
    for (let n = 0; n < 5; n += 1) expect(await post('/ok')).toMatchObject({ status: 200 });
    expect(receiver.connections.total).toBe(1);
    expect(client.connections).toEqual({ open: 1, idle: 1 });
  });

  it('is reused after an unasked 100 Continue', async () => {
    for (const path of ['/unasked-continue', '/unasked-continue-in-pieces', '/ok'])
      expect(await post(path)).toMatchObject({ status: 200 });
    expect(receiver.connections.total).toBe(1);
  });

  it('is not reused for another origin at the same address', async () => {
    table['another.example'] = ['127.0.0.1'];
    await post('/ok');
    await post('/ok', 'another.example');
    expect(receiver.connections.total).toBe(2);
    expect(receiver.requests.map(({ headers }) => headers['host'])).toEqual([
      `${NAME}:${receiver.port}`,
      `another.example:${receiver.port}`,
    ]);
  });

  it('is not reused while the name resolves to another address', async () => {
    for (const addresses of [['127.0.0.1'], ['127.0.0.2'], ['127.0.0.2', '127.0.0.1']]) {
      table[NAME] = addresses;
      expect(await post('/ok')).toMatchObject({ status: 200 });
    }
    expect([receiver.connections.total, other.connections.total]).toEqual([1, 1]);
  });

  it('is not reused when the name resolves to a forbidden address', async () => {
    await post('/ok');
    table[NAME] = ['127.0.0.1', '10.0.0.1'];
    expect(await post('/ok')).toMatchObject(failed('blocked', 'not public'));
    expect(receiver.requests).toHaveLength(1);
  });

  it.each([
    '/close',
    // It may close it while the next request is on its way.
    '/kept-for-a-second',
    '/http-1.0',
    '/shorter-than-said',
    '/a-gigabyte',
    '/switching-protocols',
    '/two-answers',
  ])('is not used again after %s', async (path) => {
    await post(path);
    await post('/ok');
    expect(receiver.connections.total).toBe(2);
  });

  it('that was closed while idle is replaced at once', async () => {
    await post('/ok');
    await post('/hang-up');
    expect(receiver.requests.map(({ path, connection }) => [path, connection])).toEqual([
      ['/ok', 1],
      ['/hang-up', 1],
      ['/hang-up', 2],
    ]);
  });

  it('that is new and breaks is not replaced: the receiver may have got the request', async () => {
    expect(await post('/hang-up')).toMatchObject(failed('connect', 'without an answer'));
    expect(receiver.requests).toHaveLength(1);
  });
});

describe('idle connections', () => {
  it('of one origin are each used by one POST at a time', async () => {
    for (let round = 0; round < 2; round += 1) await Promise.all([post('/after/500'), post('/after/500')]);
    const used = receiver.requests.map(({ connection }) => connection);
    expect(used.toSorted()).toEqual([1, 1, 2, 2]);
    expect(client.connections).toEqual({ open: 2, idle: 2 });
  });

  it('are used newest first, so that those that are not needed reach their idle timeout', async () => {
    await Promise.all([post('/after/500'), post('/after/500')]);
    for (let n = 0; n < 3; n += 1) await post('/ok');
    const [, , ...used] = receiver.requests.map(({ connection }) => connection);
    expect(new Set(used).size).toBe(1);
    expect(receiver.connections.total).toBe(2);
  });

  it('are limited, however many were open at once', async () => {
    await Promise.all(Array.from({ length: 20 }, () => post('/after/2000')));
    expect(client.connections.idle).toBeLessThanOrEqual(MAX_IDLE);
    expect(receiver.connections.max).toBe(20);
  });

  it('are limited, however many receivers there are', async () => {
    for (let n = 0; n < 20; n += 1) {
      table[`r${n}.example`] = ['127.0.0.1'];
      await post('/ok', `r${n}.example`);
      expect(client.connections.idle).toBeLessThanOrEqual(MAX_IDLE);
    }
    // Those that have waited longest were closed: the last ones are there still.
    await post('/ok', 'r19.example');
    expect(receiver.connections.total).toBe(20);
  });

  it('are closed after the idle timeout', async () => {
    await post('/ok');
    await receiver.allDisconnected();
    await expectNoSockets(client);
  });

  it('are closed after half a minute, however long the receiver would keep them: what is between may drop them silently', async () => {
    await post('/kept-for-an-hour');
    expect(client.connections).toEqual({ open: 1, idle: 1 });
    await receiver.allDisconnected();
    await expectNoSockets(client);
  });

  it('do not include refused connections', async () => {
    for (let n = 0; n < 20; n += 1) {
      table[`r${n}.example`] = ['127.0.0.3'];
      expect(await post('/ok', `r${n}.example`)).toMatchObject(failed('connect', 'refused'));
    }
    expect(client.connections).toEqual({ open: 0, idle: 0 });
    expect(client['idle']['byOrigin'].size).toBe(0);
  });

  it('are closed with the client, and busy ones after their request', async () => {
    await post('/ok');
    const under = post('/after/100');
    while (receiver.requests.length < 2) await sleep(5);
    client.close();
    expect(await under).toMatchObject({ status: 200 });
    expect(client.connections.idle).toBe(0);
    await receiver.allDisconnected();
    await expectNoSockets(client);
  });
});
