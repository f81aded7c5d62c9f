import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { expect, it } from '@jest/globals';
import { isRedisAt } from './redis.mjs';

it('finds a Redis at an IPv6 address', async () => {
  const server = createServer().listen(0, '::1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  try {
    expect(await isRedisAt(`redis://[::1]:${port}`)).toBe(true);
  } finally {
    server.close();
  }
});
