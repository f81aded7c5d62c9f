import { afterAll, beforeAll, beforeEach, expect, it } from '@jest/globals';
import { DnsResolver } from '@posthorn/dns';
import { expectedRecords, type SpfReach } from '@posthorn/domain';
import { DnsServer } from '@posthorn/testing';
import { FindRecords } from './find-records.ts';
import { walkSpf } from './walk-spf.ts';

const RELAY = '_spf.Relay.example.';
const OTHERS = 'ip4:192.0.2.1 -all';

let dns: DnsServer;
let resolver: DnsResolver;
beforeAll(async () => {
  dns = await DnsServer.start();
  resolver = new DnsResolver({ servers: [dns.address], timeoutMs: 20_000 });
});
afterAll(() => dns.close());
beforeEach(() => {
  spf('others.example', OTHERS);
  spf('good.example', 'include:others.example include:_spf.relay.example. -all');
  spf('loop.example', 'include:loop.example -all');
  dns.set('two.example', { txt: ['v=spf1 -all', 'v=spf1 mx -all'] });
  dns.set('ill.example', { rcode: 'SERVFAIL' });
});

const spf = (name: string, terms: string): void => dns.set(name, { txt: [`v=spf1 ${terms}`] });
const walk = (terms: string): Promise<SpfReach> => walkSpf(`v=spf1 ${terms}`, RELAY, resolver);
const times = (count: number, term: string): string => Array<string>(count).fill(term).join(' ');

it.each([
  ['the record itself', 'mx +include:_spf.relay.example ~all'],
  ['a record that it includes', 'mx include:good.example -all'],
  [
    'a record that it is redirected to, after all other terms',
    'redirect=good.example include:others.example',
  ],
  ['the tenth look-up', `${times(9, 'a:mail.example')} include:_spf.relay.example -all`],
  [
    'a part before errors, which receivers do not come to',
    'include:_spf.relay.example include:two.example -all',
  ],
  [
    'a part behind others that take no look-up',
    `${times(20, 'ip4:192.0.2.7')} include:_spf.relay.example -all`,
  ],
  [
    'a part behind a name that depends on the email',
    'include:%{i}.example exists:%{i}.example include:_spf.relay.example',
  ],
])('The relay is reached in %s', async (_where, terms) => {
  expect(await walk(terms)).toEqual({ kind: 'reached' });
});

it.each([
  ['it is not named', 'mx include:others.example -all', { kind: 'unreached' }],
  ['it is named behind `all`', '~all include:_spf.relay.example', { kind: 'unreached' }],
  ['`all` stands beside a redirection', 'redirect=good.example ~all', { kind: 'unreached' }],
  ['it is excluded', '-include:_spf.relay.example ?include:good.example ~all', { kind: 'unreached' }],
  ['it needs the eleventh look-up', `${times(10, 'mx')} include:_spf.relay.example`, { kind: 'too_many' }],
  [
    'included records need too many',
    `${times(5, 'include:good2.example')} include:_spf.relay.example`,
    { kind: 'too_many' },
  ],
  ['a record includes itself', 'include:loop.example include:_spf.relay.example', { kind: 'too_many' }],
  ['an included name has no record', 'include:gone.example -all', { kind: 'broken', name: 'gone.example' }],
  ['one redirected to has several', 'mx redirect=two.example', { kind: 'broken', name: 'two.example' }],
  ['an included one is faulty', 'include:faulty.example -all', { kind: 'broken', name: 'faulty.example' }],
  [
    'no name server knows an included one',
    'include:ill.example include:_spf.relay.example',
    { kind: 'failed', reason: expect.stringContaining('SERVFAIL') },
  ],
] as const)('The relay is not reached when %s', async (_why, terms, reach) => {
  spf('good2.example', 'mx a -all');
  spf('faulty.example', 'ip:192.0.2.1 -all');
  expect(await walk(terms)).toEqual(reach);
});

it('The evaluation ends after a time, however late each of its look-ups is answered', async () => {
  // Each of them in time, but not all of them together: the relay would be reached by the ninth.
  for (let n = 1; n < 9; n += 1)
    dns.set(`late${n}.example`, { txt: [`v=spf1 include:late${n + 1}.example`], delayMs: 450 });
  spf('late9.example', 'include:_spf.relay.example');
  const patient = new DnsResolver({ servers: [dns.address], timeoutMs: 2_000 });
  const reach = await walkSpf('v=spf1 include:late1.example', RELAY, patient, 1_500);
  expect(reach).toEqual({ kind: 'failed', reason: 'what the SPF record refers to took longer than 1500 ms' });
  expect(dns.queries.map(({ name }) => name)).not.toContain('late9.example');
});

it.each([
  ['include:good.example -all', 'FOUND', 'The relay may send'],
  [`${times(11, 'mx')} -all`, 'WRONG', 'give up on the SPF record'],
])('The SPF record of a domain is evaluated: %s', async (terms, state, message) => {
  spf('shop.example', terms);
  const findings = await new FindRecords(resolver).find(
    'shop.example',
    expectedRecords('shop.example', [], RELAY),
  );
  expect(findings['shop.example']).toMatchObject({ state, message: expect.stringContaining(message) });
});
