import { describe, expect, it } from '@jest/globals';
import { type AddressRange, parseAddressRange } from '@posthorn/domain';
import { clientAddress, networkOf } from './client-address.ts';

const ranges = (...texts: string[]): AddressRange[] => texts.map((text) => parseAddressRange(text)!);
const PROXIES = ranges('10.0.0.0/8', 'fd00::/8', '192.0.2.1');

function addressOf(peer: string | undefined, ...forwardedFor: string[]): string {
  const rawHeaders = ['Host', 'x', ...forwardedFor.flatMap((value) => ['X-FORWARDED-for', value])];
  return clientAddress({ socket: { remoteAddress: peer }, rawHeaders }, PROXIES);
}

describe('clientAddress', () => {
  it('R1: is that of the connection, whatever the header says, unless a trusted proxy connects', () => {
    expect(addressOf('203.0.113.9')).toBe('203.0.113.9');
    expect(addressOf('203.0.113.9', '198.51.100.1')).toBe('203.0.113.9');
    expect(addressOf('192.0.2.2', '198.51.100.1')).toBe('192.0.2.2');
    const noProxies = { socket: { remoteAddress: '10.0.0.1' }, rawHeaders: ['X-Forwarded-For', '1.2.3.4'] };
    expect(clientAddress(noProxies, [])).toBe('10.0.0.1');
  });

  it('R1: is the last address that a trusted proxy has appended, not an earlier one', () => {
    expect(addressOf('10.1.2.3', '198.51.100.1')).toBe('198.51.100.1');
    expect(addressOf('10.1.2.3', '1.1.1.1, 2.2.2.2,198.51.100.1')).toBe('198.51.100.1');
    expect(addressOf('192.0.2.1', 'nonsense, , 198.51.100.1')).toBe('198.51.100.1');
    expect(addressOf('fd00::1', '2001:DB8:0:0::1')).toBe('2001:db8::1');
  });

  it('R1: is the right-most address that is not a trusted proxy, where there are several', () => {
    expect(addressOf('10.0.0.1', '6.6.6.6, 198.51.100.1, 10.0.0.3,fd00::2')).toBe('198.51.100.1');
  });

  it('R1: is found in several headers as in one, since HAProxy adds its own after the one that it got', () => {
    expect(addressOf('10.0.0.1', '6.6.6.6', '198.51.100.1')).toBe('198.51.100.1');
    expect(addressOf('10.0.0.1', '6.6.6.6, 198.51.100.1', '10.0.0.3')).toBe('198.51.100.1');
  });

  it.each([
    ['198.51.100.1:4711', '198.51.100.1'],
    ['[2001:db8::1]:4711', '2001:db8::1'],
    ['[2001:db8::1]', '2001:db8::1'],
    ['198.51.100.1:4711, 10.0.0.3:80', '198.51.100.1'],
    ['2001:db8::1:4711', '2001:db8::1:4711'],
  ])('R1: has no port: %s', (header, address) => {
    expect(addressOf('10.0.0.1', header)).toBe(address);
  });

  it.each([
    ['no header', []],
    ['an empty one', ['']],
    ['a second one that is empty', ['198.51.100.1', '']],
    ['no address', ['198.51.100.1, unknown']],
    ['something else after the port', ['198.51.100.1:4711x']],
    ['no address before the port', ['unknown:4711']],
    ['an octal address', ['0306.051.0144.01']],
    ['a shortened address', ['198.51.25601']],
    ['a comma at the end', ['198.51.100.1,']],
    ['only proxies', ['10.0.0.2, 10.0.0.3']],
    ['nonsense behind a proxy', ['198.51.100.1, nonsense, 10.0.0.3']],
  ])('R1: is that of the proxy if that sends %s', (_, headers) => {
    expect(addressOf('10.0.0.1', ...headers)).toBe('10.0.0.1');
  });

  it('R1: is an IPv4 address where the peer’s is IPv4-mapped IPv6', () => {
    expect(addressOf('::ffff:203.0.113.9')).toBe('203.0.113.9');
    expect(addressOf('::ffff:10.0.0.1', '::ffff:c633:6401')).toBe('198.51.100.1');
  });

  it('R1: has no zone id', () => {
    expect(addressOf('fe80::1%eth0')).toBe('fe80::1');
    expect(addressOf('10.0.0.1', 'fe80::1%eth0')).toBe('10.0.0.1');
  });

  it('is `unknown` once the connection is gone', () => {
    expect(addressOf(undefined, '198.51.100.1')).toBe('unknown');
  });
});

describe('networkOf', () => {
  it('R1: is the whole address for IPv4, and the /64 prefix for IPv6', () => {
    expect(networkOf('203.0.113.9')).toBe('203.0.113.9');
    expect(networkOf('2001:db8:1:2:3:4:5:6')).toBe('2001:0db8:0001:0002::/64');
    expect(networkOf('2001:db8:1:2:ffff::')).toBe('2001:0db8:0001:0002::/64');
    expect(networkOf('2001:db8:1:3::')).not.toBe(networkOf('2001:db8:1:2::'));
    expect(networkOf('unknown')).toBe('unknown');
  });
});

describe('a trusted range', () => {
  it.each([
    ['10.0.0.0/8', '10.255.0.1', '11.0.0.1'],
    ['192.0.2.7', '192.0.2.7', '192.0.2.8'],
    ['2001:db8::/32', '2001:db8:ffff::1', '2001:db9::1'],
    ['::ffff:10.0.0.0/104', '10.1.1.1', '11.1.1.1'],
    ['::ffff:0:0/96', '10.1.1.1', '::1'],
    ['::1', '::1', '::2'],
    ['0.0.0.0/0', '1.1.1.1', '::1'],
  ])('R1: %s contains %s, but not %s', (text, inside, outside) => {
    const trusted = ranges(text);
    const told = (peer: string): string =>
      clientAddress({ socket: { remoteAddress: peer }, rawHeaders: ['X-Forwarded-For', '2001::5'] }, trusted);
    expect(told(inside)).toBe('2001::5');
    expect(told(outside)).toBe(outside);
  });
});
