import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { TxtAnswer } from '@posthorn/domain';
import { sleep, within } from '@posthorn/kernel';
import { DnsServer } from '@posthorn/testing';
import { DnsResolver } from './dns-resolver.ts';

/** Longer than any answered query takes, however busy the machine is. */
const TIMEOUT_MS = 20_000;
/** For queries without an answer. */
const HASTY_MS = 600;
/** More than a datagram holds, in strings of at most 255 octets (RFC 1035, section 3.3). */
const LONG = Array.from({ length: 20 }, (_, n) => `${n}`.padEnd(250, 'x'));

let server: DnsServer;
let resolver: DnsResolver;
let hasty: DnsResolver;
beforeAll(async () => {
  server = await DnsServer.start();
  resolver = new DnsResolver({ servers: [server.address], timeoutMs: TIMEOUT_MS });
  hasty = new DnsResolver({ servers: [server.address], timeoutMs: HASTY_MS });
});
afterAll(() => server.close());

describe('DnsResolver', () => {
  it('finds a record, whatever the case of its name', async () => {
    server.set('one.example', { txt: ['v=DKIM1; p=abc'] });
    expect(await resolver.lookUpTxt('ONE.example')).toEqual({ kind: 'found', values: ['v=DKIM1; p=abc'] });
  });

  it('joins the strings of one record, and keeps several records apart', async () => {
    server.set('several.example', { txt: [['split ', 'in ', 'three'], 'another', ''] });
    const answer = await resolver.lookUpTxt('several.example');
    expect(answer.kind === 'found' && [...answer.values].sort()).toEqual(['', 'another', 'split in three']);
  });

  it('asks over TCP for what does not fit into a datagram', async () => {
    server.set('long.example', { txt: [LONG] });
    expect(await resolver.lookUpTxt('long.example')).toEqual({ kind: 'found', values: [LONG.join('')] });
    expect(server.queries.filter(({ name }) => name === 'long.example').at(-1)?.transport).toBe('tcp');
  });

  it('follows an alias', async () => {
    server.set('target.example', { txt: ['here'] });
    server.set('alias.example', { cname: 'target.example' });
    expect(await resolver.lookUpTxt('alias.example')).toEqual({ kind: 'found', values: ['here'] });
  });

  it('waits for an answer that is slow', async () => {
    server.set('slow.example', { txt: ['late'], delayMs: 500 });
    expect(await resolver.lookUpTxt('slow.example')).toEqual({ kind: 'found', values: ['late'] });
  });

  it.each([
    ['is no such name', 'nowhere.example', { rcode: 'NXDOMAIN' }],
    ['is no TXT record at the name', 'empty.example', 'empty'],
    ['is nothing behind an alias', 'dangling.example', { cname: 'nowhere.example' }],
  ] as const)('answers absent when there %s', async (_case, name, behaviour) => {
    server.set(name, behaviour);
    expect(await resolver.lookUpTxt(name)).toEqual({ kind: 'absent' });
  });

  it.each([
    ['SERVFAIL', { rcode: 'SERVFAIL' }, 'could not find out (SERVFAIL)', () => resolver],
    ['REFUSED', { rcode: 'REFUSED' }, 'refused to answer (REFUSED)', () => resolver],
    ['silence', 'silent', 'no name server answered', () => hasty],
    ['garbage', 'garbage', '', () => hasty],
  ] as const)('gives a failure for %s', async (name, behaviour, reason, by) => {
    server.set(`${name}.example`, behaviour);
    const answer = await by().lookUpTxt(`${name}.example`);
    expect(answer).toEqual({ kind: 'failed', reason: expect.stringContaining(reason) });
  });

  it('does not time out because its own event loop was blocked', async () => {
    server.set('standstill.example', { txt: ['heard'], delayMs: 500 });
    const answer = new DnsResolver({ servers: [server.address], timeoutMs: 2_000 }).lookUpTxt(
      'standstill.example',
    );
    while (server.queries.every(({ name }) => name !== 'standstill.example')) await sleep(5);
    // No timer runs meanwhile, and no socket is read.
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 2_500);
    expect(await answer).toEqual({ kind: 'found', values: ['heard'] });
  });

  it('ends at its deadline, and holds up no other look-up', async () => {
    server.set('never.example', 'silent');
    const timeoutMs = 5_000;
    const both = new DnsResolver({ servers: [server.address], timeoutMs });
    const ended: string[] = [];
    const note = (name: string) => (answer: TxtAnswer) => (ended.push(name), answer);
    const [never, one] = await Promise.all([
      both.lookUpTxt('never.example').then(note('never')),
      both.lookUpTxt('one.example').then(note('one')),
    ]);
    // And not by the attempts of the library, which take longer in all.
    expect(never).toEqual({ kind: 'failed', reason: `no name server answered within ${timeoutMs} ms` });
    expect(one.kind).toBe('found');
    expect(ended).toEqual(['one', 'never']);
  });

  it('accepts an answer that comes after the next attempt has begun', async () => {
    server.set('slower.example', { txt: ['later'], delayMs: 2_500 });
    const five = new DnsResolver({ servers: [server.address], timeoutMs: 5_000 });
    expect(await five.lookUpTxt('slower.example')).toEqual({ kind: 'found', values: ['later'] });
  });

  it('asks again when a datagram was lost', async () => {
    server.set('lost.example', 'silent');
    const asked = resolver.lookUpTxt('lost.example');
    while (!server.queries.some(({ name }) => name === 'lost.example')) await sleep(5);
    server.set('lost.example', { txt: ['found'] });
    expect(await asked).toEqual({ kind: 'found', values: ['found'] });
  });

  it('returns a failure for an unreachable server and for an invalid name', async () => {
    const away = new DnsResolver({ servers: ['127.0.0.1:1'], timeoutMs: TIMEOUT_MS });
    expect(await away.lookUpTxt('one.example')).toMatchObject({ kind: 'failed' });
    expect(await resolver.lookUpTxt(`${'x'.repeat(64)}.example`)).toMatchObject({ kind: 'failed' });
    expect(await resolver.lookUpTxt('two..dots')).toMatchObject({ kind: 'failed' });
  });

  it('caches nothing', async () => {
    server.set('changing.example', { txt: ['before'] });
    await resolver.lookUpTxt('changing.example');
    server.set('changing.example', { txt: ['after'] });
    expect(await resolver.lookUpTxt('changing.example')).toEqual({ kind: 'found', values: ['after'] });
    server.remove('changing.example');
    expect(await resolver.lookUpTxt('changing.example')).toEqual({ kind: 'absent' });
  });
});

describe('with several name servers', () => {
  let silent: DnsServer;
  beforeAll(async () => {
    silent = await DnsServer.start();
  });
  afterAll(() => silent.close());

  const by = (...servers: string[]): DnsResolver => new DnsResolver({ servers, timeoutMs: 5_000 });

  it('only the first one is asked where that answers', async () => {
    server.set('first.example', { txt: ['here'] });
    await by(server.address, silent.address).lookUpTxt('first.example');
    // So that a question that was sent would have arrived.
    await new DnsResolver({ servers: [silent.address], timeoutMs: TIMEOUT_MS }).lookUpTxt('last.example');
    expect(silent.queries.map(({ name }) => name)).toEqual(['last.example']);
  });

  it('a silent one costs little time', async () => {
    server.set('one.example', { txt: ['here'] });
    silent.set('one.example', 'silent');
    const patient = new DnsResolver({ servers: [silent.address, server.address], timeoutMs: 60_000 });
    // The next server is asked after half a second; the library would wait for five.
    expect(await within(patient.lookUpTxt('one.example'), 4_500)).toMatchObject({ values: ['here'] });
  });

  it('the answer of a slow one behind a silent one is accepted', async () => {
    server.set('slow.example', { txt: ['late'], delayMs: 2_000 });
    silent.set('slow.example', 'silent');
    expect(await by(silent.address, server.address).lookUpTxt('slow.example')).toMatchObject({
      values: ['late'],
    });
  });

  it.each([
    ['does not know', 'unknown.example', { rcode: 'SERVFAIL' }],
    ['refuses', 'refused.example', { rcode: 'REFUSED' }],
    ['answers garbage', 'nonsense.example', 'garbage'],
  ] as const)('one that %s is skipped', async (_what, name, behaviour) => {
    server.set(name, { txt: ['here'] });
    silent.set(name, behaviour);
    expect(await by(silent.address, server.address).lookUpTxt(name)).toMatchObject({ values: ['here'] });
  });

  it('the failure of one does not end the look-up while another may answer', async () => {
    server.set('late.example', { txt: ['late'], delayMs: 1_500 });
    silent.set('late.example', { rcode: 'SERVFAIL' });
    expect(await by(server.address, silent.address).lookUpTxt('late.example')).toMatchObject({
      values: ['late'],
    });
  });

  it('the error answered by one is reported rather than the silence of another', async () => {
    server.set('ill.example', { rcode: 'SERVFAIL' });
    silent.set('ill.example', 'silent');
    const hastily = new DnsResolver({ servers: [silent.address, server.address], timeoutMs: 4_000 });
    expect(await hastily.lookUpTxt('ill.example')).toMatchObject({
      reason: expect.stringContaining('SERVFAIL'),
    });
  });

  it('an unreachable one is skipped, and is no fault of ours while another one answers', async () => {
    server.set('here.example', { addresses: ['203.0.113.7'] });
    server.set('ill.example', { rcode: 'SERVFAIL' });
    for (const servers of [
      ['127.0.0.1:1', server.address],
      [server.address, '127.0.0.1:1'],
    ]) {
      expect(await by(...servers).lookUpAddresses('here.example')).toMatchObject({ kind: 'found' });
      expect(await by(...servers).lookUpAddresses('ill.example')).toMatchObject({
        kind: 'failed',
        isOurs: false,
        reason: expect.stringContaining('SERVFAIL'),
      });
    }
  });
});

describe('the addresses of a name', () => {
  const addresses = ['203.0.113.7', '203.0.113.8', '2001:db8::7'];
  const lookUp = (name: string, by = resolver): ReturnType<DnsResolver['lookUpAddresses']> =>
    by.lookUpAddresses(name);
  const found = (...expected: string[]): object => ({
    kind: 'found',
    addresses: expect.arrayContaining(expected),
  });

  it('are those of both families', async () => {
    server.set('both.example', { addresses });
    expect(await lookUp('both.example')).toEqual(found(...addresses));
  });

  it.each([
    ['IPv4', ['203.0.113.7']],
    ['IPv6', ['2001:db8::7']],
  ])('may be of %s alone', async (family, expected) => {
    server.set(`${family}.example`, { addresses: expected });
    expect(await lookUp(`${family}.example`)).toEqual({ kind: 'found', addresses: expected });
  });

  it('are those of one family, without much delay, where the servers are silent about the other', async () => {
    const patient = new DnsResolver({ servers: [server.address], timeoutMs: 60_000 });
    server.set('half.example', { addresses, isSilentAbout: 'AAAA' });
    const answer = await within(patient.lookUpAddresses('half.example'), 20_000);
    expect(answer).toEqual(found('203.0.113.7', '203.0.113.8'));
  });

  it('are those of the target of an alias', async () => {
    server.set('target.example', { addresses });
    server.set('alias.example', { cname: 'target.example' });
    expect(await lookUp('alias.example')).toEqual(found(...addresses));
  });

  it('are all of them, however many', async () => {
    const many = Array.from({ length: 500 }, (_, n) => `203.0.${n >> 8}.${n & 255}`);
    server.set('many.example', { addresses: many });
    const answer = await lookUp('many.example');
    expect(answer.kind === 'found' && new Set(answer.addresses)).toEqual(new Set(many));
  });

  it.each([
    ['is no such name', 'nowhere.example', { rcode: 'NXDOMAIN' }],
    ['is no address of the name', 'empty.example', 'empty'],
    ['is nothing behind an alias', 'dangling.example', { cname: 'nowhere.example' }],
  ] as const)('are none when there %s', async (_case, name, behaviour) => {
    server.set(name, behaviour);
    expect(await lookUp(name)).toEqual({ kind: 'absent' });
  });

  it.each([
    ['SERVFAIL', { rcode: 'SERVFAIL' }, () => resolver],
    ['REFUSED', { rcode: 'REFUSED' }, () => resolver],
    ['silence', 'silent', () => hasty],
    ['garbage', 'garbage', () => hasty],
  ] as const)('are not known after %s, which is no fault of ours', async (name, behaviour, by) => {
    server.set(`${name}.example`, behaviour);
    expect(await lookUp(`${name}.example`, by())).toMatchObject({ kind: 'failed', isOurs: false });
  });

  it('are not known where there is no name server, which is a fault of ours', async () => {
    const away = new DnsResolver({ servers: ['127.0.0.1:1'], timeoutMs: TIMEOUT_MS });
    expect(await away.lookUpAddresses('both.example')).toMatchObject({ kind: 'failed', isOurs: true });
  });

  it.each(['localhost', 'LOCALHOST', 'a.localhost'])(
    '%s is this machine, and no server is asked',
    async (name) => {
      const asked = server.queries.length;
      expect(await lookUp(name)).toEqual({ kind: 'found', addresses: ['127.0.0.1', '::1'] });
      expect(server.queries).toHaveLength(asked);
    },
  );
});
