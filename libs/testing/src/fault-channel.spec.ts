import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, it } from '@jest/globals';
import { Channel } from './fault-channel.ts';
import { listenOnLoopback } from './loopback.ts';

it('a channel that is cut while one side is being closed leaves no connection open', async () => {
  // Test files before this one may have left some in the same process.
  const openBefore = openConnections();
  const server = createServer({ allowHalfOpen: true });
  const port = await listenOnLoopback(server);
  const peers: Socket[] = [];
  async function pair(): Promise<Socket> {
    const accepted = once(server, 'connection') as Promise<[Socket]>;
    peers.push(connect({ port, host: '127.0.0.1', allowHalfOpen: true }).on('error', () => undefined));
    return (await accepted)[0];
  }
  const channel = new Channel(await pair(), await pair());
  channel.client.end('the last words');
  channel.cut();
  expect([channel.client.destroyed, channel.server.destroyed]).toEqual([true, true]);
  const closed = new Promise((resolve) => server.close(resolve));
  for (const peer of peers) peer.destroy();
  await closed;
  const until = performance.now() + 60_000;
  while (openConnections() > openBefore && performance.now() < until) await sleep(5);
  expect(openConnections()).toBeLessThanOrEqual(openBefore);
});

function openConnections(): number {
  return process.getActiveResourcesInfo().filter((kind) => kind === 'TCPSocketWrap').length;
}
