import { expect, it } from '@jest/globals';
import { systemAddresses } from './system-addresses.ts';

it('resolves the names of this machine, and an address to itself', async () => {
  expect(await systemAddresses('localhost')).toContain('127.0.0.1');
  expect(await systemAddresses('192.0.2.1')).toEqual(['192.0.2.1']);
});
