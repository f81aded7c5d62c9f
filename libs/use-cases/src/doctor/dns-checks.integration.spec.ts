import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { DnsResolver } from '@posthorn/dns';
import type { Finding } from '@posthorn/domain';
import { type DnsBehaviour, DnsServer } from '@posthorn/testing';
import { dnsChecks } from './dns-checks.ts';

const DOMAIN = 'bounces.example.com';

let dns: DnsServer;
beforeAll(async () => {
  dns = await DnsServer.start();
});
afterAll(() => dns.close());
beforeEach(() => {
  dns.set('mx.example.com', { addresses: ['203.0.113.7'] });
  dns.set('gone.example.com', { rcode: 'NXDOMAIN' });
  dns.set('failing.example.com', { rcode: 'SERVFAIL' });
});

async function finding(name: string, spfInclude?: string, timeoutMs = 20_000): Promise<Finding> {
  const resolver = new DnsResolver({ servers: [dns.address], timeoutMs });
  const options = { bounceDomain: DOMAIN, isRelayElsewhere: true };
  const checks = dnsChecks({ dns: resolver, ...options, spfInclude });
  return checks.find((check) => check.name === name)!.run();
}

it.each<[boolean, object]>([
  [false, { kind: 'good', found: 'mail to bounces.localhost comes from this machine only' }],
  [true, { kind: 'fault', mend: 'set BOUNCE_DOMAIN to a domain of yours' }],
])(
  'A domain of this machine is asked of no name server; with a relay elsewhere (%s): %j',
  async (isRelayElsewhere, expected) => {
    const resolver = new DnsResolver({ servers: [dns.address], timeoutMs: 20_000 });
    const options = { bounceDomain: 'bounces.localhost', isRelayElsewhere, spfInclude: undefined };
    const checks = dnsChecks({ dns: resolver, ...options });
    expect(checks.map(({ name }) => name)).toEqual(['dns.resolver', 'dns.bounces']);
    expect(await checks[1]!.run()).toMatchObject(expected);
  },
);

describe('The doctor, about the domain that bounces are returned to', () => {
  it.each<[string, DnsBehaviour, Finding['kind'], string]>([
    ['a host', { mx: ['mx.example.com'] }, 'good', 'mail to bounces.example.com goes to mx.example.com'],
    ['a host beside a dead one', { mx: ['gone.example.com', 'mx.example.com'] }, 'good', 'goes to'],
    ['no host', { txt: ['v=spf1 -all'] }, 'fault', 'has no MX record'],
    ['no mail at all', { mx: [''] }, 'fault', 'says that it accepts no mail'],
    [
      'no host, while the domain itself has an address',
      { addresses: ['203.0.113.7'] },
      'advice',
      'has no MX record; mail to it goes to its own address, 203.0.113.7',
    ],
    [
      'a host without an address',
      { mx: ['gone.example.com'] },
      'fault',
      'gone.example.com, which has no address',
    ],
    ['an address', { mx: ['203.0.113.7'] }, 'fault', '203.0.113.7, which has no address'],
    [
      'a host about which name servers fail',
      { mx: ['gone.example.com', 'failing.example.com'] },
      'unknown',
      'whether failing.example.com, to which mail to bounces.example.com goes, has an address is not known',
    ],
    [
      'a failure',
      { rcode: 'SERVFAIL' },
      'unknown',
      'whether bounces.example.com has an MX record is not known',
    ],
  ])('finds %s in its MX records', async (_what, behaviour, kind, found) => {
    dns.set(DOMAIN, behaviour);
    expect(await finding('dns.bounces')).toMatchObject({ kind, found: expect.stringContaining(found) });
  });

  it('cannot tell what mail without an MX record goes to while nobody answers about its address', async () => {
    dns.set(DOMAIN, { addresses: [], isSilentAbout: 'A' });
    expect(await finding('dns.bounces', undefined, 1_000)).toMatchObject({
      kind: 'unknown',
      found: expect.stringContaining('has no MX record, and whether it has an address is not known'),
      mend: 'see dns.resolver',
    });
  });

  it.each<[DnsBehaviour, string | undefined, Finding['kind'], string]>([
    [{ mx: [], txt: ['v=spf1 include:_spf.relay.example -all'] }, '_spf.relay.example', 'good', 'may send'],
    [{ mx: [], txt: ['v=spf1 -all'] }, '_spf.relay.example', 'advice', 'does not let the relay send'],
    [{ mx: ['mx.example.com'] }, '_spf.relay.example', 'advice', 'There is no SPF record'],
    [{ mx: [], txt: ['v=spf1 -all'] }, undefined, 'good', 'check that it names the servers'],
    [{ rcode: 'SERVFAIL' }, '_spf.relay.example', 'unknown', 'SERVFAIL'],
  ])('judges its SPF record: %j with %s', async (behaviour, spfInclude, kind, found) => {
    dns.set(DOMAIN, behaviour);
    expect(await finding('dns.bounces-spf', spfInclude)).toMatchObject({
      kind,
      found: expect.stringContaining(found),
    });
  });
});
