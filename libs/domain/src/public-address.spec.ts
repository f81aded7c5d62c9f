import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import ipaddr from 'ipaddr.js';
import { type AddressRange, isInRanges, parseAddress, parseAddressRange } from './address-range.ts';
import { mayConnectTo } from './public-address.ts';

const networks = (...texts: string[]): AddressRange[] => texts.map((text) => parseAddressRange(text)!);
const EVERYTHING = networks('0.0.0.0/0', '::/0');

describe('W1: an address that a caller chose', () => {
  it.each([
    ...[
      '1.1.1.1',
      '8.8.8.8',
      '93.184.215.14',
      '172.15.255.255',
      '172.32.0.1',
      '192.167.255.255',
      '100.63.255.255',
    ],
    ...['100.128.0.1', '198.17.255.255', '198.20.0.1', '223.255.255.254', '126.255.255.255', '128.0.0.1'],
    ...['2606:4700:4700::1111', '2a00:1450:4001::1', '2400::1', '2001:4860:4860::8888'],
    ...['::ffff:8.8.8.8', '64:ff9b::8.8.8.8'],
  ])('is connected to when it is public: %s', (address) => {
    expect(mayConnectTo(address, [])).toBe(true);
  });

  const OPENABLE: [string, string][] = [
    ['loopback', '127.0.0.1'],
    ['loopback', '127.255.255.254'],
    ['loopback', '::1'],
    ['loopback, mapped', '::ffff:127.0.0.1'],
    ['loopback, mapped', '::ffff:7f00:1'],
    ['loopback by NAT64', '64:ff9b::127.0.0.1'],
    ['private', '10.0.0.1'],
    ['private', '172.16.0.1'],
    ['private', '172.31.255.255'],
    ['private', '192.168.1.1'],
    ['private, mapped', '::ffff:192.168.1.1'],
    ['private by NAT64', '64:ff9b::a00:1'],
    ['shared by a provider', '100.64.0.1'],
    ['shared by a provider', '100.127.255.255'],
    ['for protocols', '192.0.0.1'],
    ['documentation', '192.0.2.1'],
    ['documentation', '198.51.100.1'],
    ['documentation', '203.0.113.1'],
    ['documentation', '2001:db8::1'],
    ['documentation', '3fff::1'],
    ['benchmarks', '198.18.0.1'],
    ['benchmarks', '198.19.255.255'],
    ['benchmarks', '2001:2::1'],
    ['6to4 relays', '192.88.99.1'],
    ['unique local', 'fc00::1'],
    ['unique local', 'fd12:3456:789a::1'],
    ['not given out', '4000::1'],
    ['not given out', '::2:0:0:1'],
    ['ORCHID', '2001:20::1'],
    ['segment routing', '5f00::1'],
  ];
  it.each(OPENABLE)('%s: %s must be allowed by the operator', (_kind, address) => {
    expect(mayConnectTo(address, [])).toBe(false);
    expect(mayConnectTo(address, EVERYTHING)).toBe(true);
  });

  it.each([
    ['unspecified', '0.0.0.0'],
    ['this network', '0.1.2.3'],
    ['link-local', '169.254.1.1'],
    ['metadata', '169.254.169.254'],
    ['metadata, mapped', '::ffff:169.254.169.254'],
    ['metadata, mapped', '::ffff:a9fe:a9fe'],
    ['metadata, compatible', '::169.254.169.254'],
    ['metadata by NAT64', '64:ff9b::169.254.169.254'],
    ['metadata by a NAT64 of its own', '64:ff9b:1::a9fe:a9fe'],
    ['metadata by 6to4', '2002:a9fe:a9fe::1'],
    ['6to4', '2002:7f00:1::'],
    ['Teredo', '2001:0:4136:e378:8000:63bf:3fff:fdd2'],
    ['translated', '::ffff:0:127.0.0.1'],
    ['compatible', '::127.0.0.1'],
    ['compatible', '::198.41.0.4'],
    ['compatible', '::808:808'],
    ['metadata of Alibaba', '100.100.100.200'],
    ['metadata of Azure', '168.63.129.16'],
    ['metadata of Oracle', '192.0.0.192'],
    ['metadata of AWS', 'fd00:ec2::254'],
    ['metadata of Google', 'fd20:ce::254'],
    ['multicast', '224.0.0.1'],
    ['multicast', '239.255.255.250'],
    ['multicast', 'ff02::1'],
    ['reserved', '240.0.0.1'],
    ['broadcast', '255.255.255.255'],
    ['unspecified', '::'],
    ['link-local', 'fe80::1'],
    ['link-local', 'febf::1'],
    ['link-local with a zone', 'fe80::1%eth0'],
    ['site-local', 'fec0::1'],
    ['discarded', '100::1'],
  ])('%s: %s cannot be allowed by a setting', (_kind, address) => {
    expect(mayConnectTo(address, EVERYTHING)).toBe(false);
  });

  /** All ranges that the registries of special addresses do not list as globally reachable (https://www.iana.org/assignments/iana-ipv4-special-registry, …ipv6…). */
  it.each([
    ...['0.0.0.0/8', '10.0.0.0/8', '100.64.0.0/10', '127.0.0.0/8', '169.254.0.0/16', '172.16.0.0/12'],
    ...['192.0.0.0/24', '192.0.2.0/24', '192.88.99.0/24', '192.168.0.0/16', '198.18.0.0/15'],
    ...['198.51.100.0/24', '203.0.113.0/24', '240.0.0.0/4', '255.255.255.255/32'],
    ...['::/128', '::1/128', '::ffff:0:0:0/96', '64:ff9b:1::/48', '100::/64', '100:0:0:1::/64'],
    ...['2001::/32', '2001:2::/48', '2001:10::/28', '2001:db8::/32', '2002::/16', '3fff::/20'],
    ...['5f00::/16', 'fc00::/7', 'fe80::/10'],
  ])('is not connected to, from the first to the last address of %s', (range) => {
    const [address, bits] = parseAddressRange(range)!;
    const bytes = address.toByteArray();
    const last = bytes.map((byte, n) => byte | (0xff >> Math.min(8, Math.max(0, bits - 8 * n))));
    for (const one of [address, ipaddr.fromByteArray(last)])
      expect([one.toString(), mayConnectTo(one.toString(), [])]).toEqual([one.toString(), false]);
  });

  it.each([
    '',
    ' ',
    'example.com',
    '0177.0.0.1',
    '0x7f.1',
    '2130706433',
    '127.1',
    '1.1.1.1 ',
    '[::1]',
    '1.1.1.1/32',
  ])('%j is not an address', (text) => {
    expect(mayConnectTo(text, EVERYTHING)).toBe(false);
  });

  it('is allowed only by its own network, in any notation', () => {
    const allowed = networks('127.0.0.0/8', '10.1.0.0/16', 'fd00::/8');
    for (const address of ['127.0.0.1', '::ffff:127.9.9.9', '10.1.2.3', 'fd00::1'])
      expect(mayConnectTo(address, allowed)).toBe(true);
    for (const address of ['::1', '10.2.0.1', 'fc00::1', '192.168.0.1'])
      expect(mayConnectTo(address, allowed)).toBe(false);
  });

  it('is treated the same as IPv4 and as IPv4-mapped IPv6', () => {
    fc.assert(
      fc.property(fc.ipV4(), fc.constantFrom('::ffff:', '64:ff9b::'), (address, prefix) => {
        expect(mayConnectTo(prefix + address, [])).toBe(mayConnectTo(address, []));
      }),
    );
  });
});

describe('parseAddressRange', () => {
  it.each(['10.0.0.0/8', '10.1.2.3', '::1', 'fd00::/8', '::ffff:10.0.0.0/104', '0.0.0.0/0'])(
    'accepts %s',
    (text) => {
      expect(parseAddressRange(text)).toBeDefined();
    },
  );

  it.each([
    '',
    '10.0.0.0/33',
    '10.0.0/8',
    '10/8',
    '010.0.0.0/8',
    '10.0.0.0/8/8',
    '10.0.0.0/',
    'fd00::/129',
    'a/8',
    '1.1.1.1/-1',
    'fe80::1%eth0',
    'fe80::1%eth0/64',
  ])('refuses %j', (text) => {
    expect(parseAddressRange(text)).toBeUndefined();
  });

  it.each([
    ['::ffff:10.0.0.0/104', true],
    ['::ffff:0.0.0.0/96', true],
    ['::ffff:0.0.0.0/95', false],
    ['::/0', false],
  ])(
    'of IPv6 addresses, such as %s, has an IPv4 address in it only if all of it is IPv4-mapped',
    (text, has) => {
      expect(isInRanges(parseAddress('10.1.2.3')!, networks(text))).toBe(has);
    },
  );
});
