import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { networkInterfaces } from 'node:os';
import { expect, it } from '@jest/globals';
import { isRedisAt } from './redis.mjs';

/** Containers often have none. */
const hasIpv6 = Object.values(networkInterfaces())
  .flat()
  .some((one) => one?.address === '::1');

(hasIpv6 ? it : it.skip)('finds a Redis at an IPv6 address (skipped where there is none)', async () => {
  const server = createServer().listen(0, '::1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  try {
    expect(await isRedisAt(`redis://[::1]:${port}`)).toBe(true);
  } finally {
    server.close();
  }
});
