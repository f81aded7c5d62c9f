import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { FaultProxy } from './fault-proxy.ts';

/** Repeats what it is told. */
const server = createServer((socket) => {
  // The proxy resets what is open at the end.
  socket.on('error', () => undefined);
  socket.on('data', (bytes) => {
    heard += bytes.toString();
    socket.write(bytes);
  });
});
let heard = '';
let proxy: FaultProxy;

beforeAll(async () => {
  await once(server.listen(0, '127.0.0.1'), 'listening');
  proxy = await FaultProxy.before(`tcp://127.0.0.1:${(server.address() as AddressInfo).port}`);
});
afterAll(async () => {
  await proxy.close();
  server.close();
});

async function client(): Promise<{ socket: Socket; answer: () => string }> {
  let answer = '';
  const socket = connect(proxy.port, '127.0.0.1').on('data', (bytes) => (answer += bytes.toString()));
  await once(socket, 'connect');
  return { socket, answer: () => answer };
}

async function until(condition: () => boolean): Promise<void> {
  while (!condition()) await sleep(5);
}

it.each(['requests', 'answers'] as const)(
  'a proxy that has frozen only the %s holds these, on open and on new connections, and forwards them when it is healed',
  async (what) => {
    const open = await client();
    open.socket.write('a');
    await until(() => open.answer() === 'a');
    proxy.freeze(what);
    heard = '';
    open.socket.write('b');
    const fresh = await client();
    fresh.socket.write('b');
    if (what === 'answers') await until(() => heard === 'bb');
    await sleep(200);
    expect([heard, open.answer(), fresh.answer()]).toEqual([what === 'answers' ? 'bb' : '', 'a', '']);
    await proxy.heal();
    await until(() => open.answer() === 'ab' && fresh.answer() === 'b');
    expect(heard).toBe('bb');
    for (const { socket } of [open, fresh]) socket.destroy();
  },
);

it.each(['before', 'after'] as const)(
  'a proxy that freezes a connection %s some bytes forwards nothing more on it, and everything once it is healed',
  async (when) => {
    const [chosen, other] = [await client(), await client()];
    chosen.socket.write('a');
    await until(() => chosen.answer() === 'a');
    heard = '';
    const isFrozen = proxy.freezeAt('bc', when);
    chosen.socket.write('b');
    await until(() => heard === 'b');
    chosen.socket.write('c');
    await isFrozen;
    other.socket.write('d');
    await until(() => other.answer() === 'd');
    chosen.socket.write('e');
    await sleep(200);
    expect(heard.replace('d', '')).toBe(when === 'before' ? 'b' : 'bc');
    await proxy.heal();
    await until(() => chosen.answer() === 'abce');
    for (const { socket } of [chosen, other]) socket.destroy();
  },
);
