import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import type { Socket } from 'node:net';
import { Worker } from 'node:worker_threads';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { BODY, expectNoSockets, failed, LOOPBACK, noNames, PATIENT_MS } from './loopback.fixture.ts';
import { WebhookClient } from './webhook-client.ts';

/** Set to 1: the first when there is a connection, the second when the receiver has reset it. */
const turns = new Int32Array(new SharedArrayBuffer(8));
/** A receiver that resets connections once the other side knows of them. In a thread of its own, so that it does so while this one is held up. */
const RECEIVER = `
const { parentPort, workerData: turns } = require('node:worker_threads');
const server = require('node:net').createServer((socket) => {
  Atomics.wait(turns, 0, 0);
  socket.resetAndDestroy();
  Atomics.store(turns, 1, 1);
  Atomics.notify(turns, 1);
});
server.listen(0, '127.0.0.1', () => parentPort.postMessage(server.address().port));`;

let worker: Worker;
let port: number;
beforeAll(async () => {
  worker = new Worker(RECEIVER, { eval: true, workerData: turns });
  port = await new Promise((resolve) => worker.once('message', resolve));
});
afterAll(() => worker.terminate());

/** Holds this thread up between the connection and whoever looks at it. */
function holdUp(message: unknown): void {
  const { socket } = message as { socket: Socket };
  socket.once('connect', () => {
    Atomics.store(turns, 0, 1);
    Atomics.notify(turns, 0);
    Atomics.wait(turns, 1, 0);
  });
}

it('W8: a receiver that resets the connection before its address is checked is unreachable, not blocked', async () => {
  const client = new WebhookClient({ policy: LOOPBACK, lookUp: noNames });
  subscribe('net.client.socket', holdUp);
  const url = `http://127.0.0.1:${port}/`;
  const result = await client.post({ url, headers: {}, body: BODY, deadlineMs: PATIENT_MS });
  unsubscribe('net.client.socket', holdUp);
  expect(result).toMatchObject(failed('connect', 'the receiver closed the connection'));
  await expectNoSockets(client);
  client.close();
});
