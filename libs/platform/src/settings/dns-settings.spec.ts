import { describe, expect, it } from '@jest/globals';
import { faultyTermIn } from '@posthorn/domain';
import { DnsSettings } from './dns-settings.ts';
import { readSettings } from './read-settings.ts';

const read = (DNS_SERVERS: string): readonly string[] =>
  readSettings({ dns: DnsSettings }, { DNS_SERVERS }).dns.options.servers;

describe('DNS_SERVERS', () => {
  it.each([
    ['', []],
    ['127.0.0.1', ['127.0.0.1']],
    ['127.0.0.1:65535', ['127.0.0.1:65535']],
    ['127.0.0.1:5353, [::1]:53,::1', ['127.0.0.1:5353', '[::1]:53', '::1']],
  ])('%j is parsed as %j', (text, servers) => {
    expect(read(text)).toEqual(servers);
  });

  it.each([
    'localhost',
    'ns.example:53',
    '127.0.0.1:0',
    '127.0.0.1:65536',
    '1.2.3',
    '[127.0.0.1]:53',
    '::1:53:x',
    '127.0.0.1,localhost',
    ',',
  ])('%j is refused', (text) => {
    expect(() => read(text)).toThrow('it must be IP addresses, each with a port');
  });
});

describe('SPF_INCLUDE', () => {
  const readInclude = (SPF_INCLUDE: string): string | undefined =>
    readSettings({ dns: DnsSettings }, { SPF_INCLUDE }).dns.SPF_INCLUDE;

  it.each(['_spf.relay.example', 'SPF.Relay.example', 'relay.example.'])('%j is taken', (include) => {
    expect(readInclude(include)).toBe(include);
  });

  it.each(['relay', '_spf', 'spf..example', '.example', 'relay.my_host', '-'])(
    '%j is refused, because a record that includes it is an error to receivers',
    (include) => {
      expect(faultyTermIn(`v=spf1 include:${include}`)).toBeDefined();
      expect(() => readInclude(include)).toThrow('it must be a full name such as _spf.relay.example');
    },
  );
});
