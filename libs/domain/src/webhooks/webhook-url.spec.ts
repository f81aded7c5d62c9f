import { describe, expect, it } from '@jest/globals';
import { parseAddressRange } from '../address-range.ts';
import { faultInWebhookHost, faultInWebhookUrl, type WebhookUrlPolicy } from './webhook-url.ts';

const PUBLIC_ONLY: WebhookUrlPolicy = { allowsHttp: false, networks: [] };
const LOCAL: WebhookUrlPolicy = {
  allowsHttp: true,
  networks: ['127.0.0.0/8', '::1'].map((text) => parseAddressRange(text)!),
};

const faultIn = (url: string, policy = PUBLIC_ONLY): string | undefined =>
  faultInWebhookUrl(url) ?? faultInWebhookHost(url, policy);

describe('W1: the URL of a webhook', () => {
  it.each([
    'https://example.com',
    'https://example.com/hooks?key=a%20b&x=1',
    'HTTPS://EXAMPLE.COM:8443/',
    'https://hooks.a.b.example.co.uk/~x/@y',
    'https://bücher.example/hook',
    'https://xn--bcher-kva.example/',
    'https://my_host.example.com/',
    `https://${'a'.repeat(63)}.${'abc.'.repeat(44)}example.com/`,
    `https://${'abc.'.repeat(60)}abcd.example/`,
    'https://8.8.8.8/',
    'https://[2606:4700:4700::1111]:444/hook',
    'https://localhost.example.com/',
    'https://internal.example.com/',
  ])('may be %s', (url) => {
    expect(faultIn(url)).toBeUndefined();
  });

  it.each([
    ['', 'is not a URL that begins with `https://`'],
    ['example.com', 'is not a URL that begins with `https://`'],
    ['//example.com', 'is not a URL that begins with `https://`'],
    ['https:example.com', 'is not a URL that begins with `https://`'],
    ['https:/example.com', 'is not a URL that begins with `https://`'],
    ['https:///example.com', 'is not a URL that begins with `https://`'],
    ['https://', 'is not a URL that begins with `https://`'],
    ['https://?x', 'is not a URL that begins with `https://`'],
    ['ftp://example.com/', 'is not a URL that begins with `https://`'],
    ['file:///etc/passwd', 'is not a URL that begins with `https://`'],
    ['javascript:alert(1)', 'is not a URL that begins with `https://`'],
    ['https://:443/', 'is not a valid URL'],
    ['https://exa mple.com/', 'has a space'],
    [' https://example.com/', 'has a space'],
    ['https://example.com/\u00a0', 'has a space'],
    ['https://exam\tple.com/', 'holds a tab'],
    ['https://example.com/\r\nX: y', 'holds a carriage return'],
    ['https://example.com/\u202e', 'holds a character that cannot be seen'],
    ['https://example.com\\@10.0.0.1/', 'has a backslash'],
    ['https://user@example.com/', 'has a user name or a password'],
    ['https://user:secret@example.com/', 'has a user name or a password'],
    ['https://@example.com/', 'has a user name or a password'],
    ['https://example.com/#part', 'has a fragment'],
    ['https://example.com/#', 'has a fragment'],
    ['https://example.com:0/', 'has the port 0'],
    ['https://example.com:65536/', 'is not a valid URL'],
    ['https://example.com./', 'has a host that ends with a dot'],
    ['https://example..com/', 'has a host with two dots in a row, or one at its start'],
    ['https://.example.com/', 'has a host with two dots in a row, or one at its start'],
    ...[
      '{{host}}.example.com',
      '$HOST.example.com',
      '*.example.com',
      'a,b.example',
      "a'b.example",
      'a;b.example',
    ].map((host): [string, string] => [`https://${host}/`, 'has a host with a character that no name has']),
    [`https://${'a'.repeat(64)}.example.com/`, 'between two dots; at most 63 are allowed'],
    [`https://${'ü'.repeat(60)}.example.com/`, 'between two dots; at most 63 are allowed'],
    [`https://${'abc.'.repeat(61)}example.com/`, 'has a host of 255 characters; at most 253 are allowed'],
    ['https://exam<ple.com/', 'is not a valid URL'],
    ['https://256.1.1.1/', 'is not a valid URL'],
    ['https://[::1', 'is not a valid URL'],
    ['https://[fe80::1%25eth0]/', 'is not a valid URL'],
  ])('may not be %j', (url, fault) => {
    expect(faultInWebhookUrl(url)).toContain(fault);
  });

  it('is https unless the operator allows http', () => {
    expect(faultIn('http://example.com/')).toBe('begins with `http://`; give an `https://` URL');
    expect(faultIn('http://example.com/', LOCAL)).toBeUndefined();
  });

  it.each([
    ...[
      'localhost',
      'LOCALHOST',
      'a.localhost',
      'localhost:3000',
      'printer.local',
      'db.internal',
      'x.localdomain',
    ],
    ...[
      'nas.home.arpa',
      'intranet',
      'server',
      'app.corp',
      'router.lan',
      'metadata.google.internal',
      'metadata',
    ],
    ...['shop.test', 'shop.invalid', 'shop.onion', 'shop.alt'],
    ...['127.0.0.1', '127.1', '127.0.1', '2130706433', '0x7f000001', '0x7f.1', '0177.0.0.1', '017700000001'],
    ...['127.0.0.1.', '0', '0.0.0.0', '10.0.0.1', '0xa.0.0.1', '172.16.1.1', '192.168.0.1', '192.168.257'],
    ...['169.254.169.254', '0xa9fea9fe', '2852039166', '100.64.0.1', '198.18.0.1', '192.0.2.1', '224.0.0.1'],
    ...['１２７.０.０.１', '127。0。0。1', '%31%32%37.0.0.1', '①②⑦.0.0.1', 'ⓛocalhost'],
    ...['[::1]', '[::]', '[0:0:0:0:0:0:0:1]', '[::ffff:127.0.0.1]', '[::ffff:7f00:1]', '[::127.0.0.1]'],
    ...['[64:ff9b::7f00:1]', '[2002:7f00:1::]', '[2001:0:4136:e378:8000:63bf:3fff:fdd2]', '[fc00::1]'],
    ...['[fd00:ec2::254]', '[fe80::1]', '[ff02::1]', '[2001:db8::1]', '[100::1]', '[::ffff:0:127.0.0.1]'],
  ])('must have a public host, not %s', (host) => {
    expect(faultIn(`https://${host}/hook`)).toMatch(/^has (?:the host|a host that ends)/);
  });

  it.each([
    ...['http://localhost:4000/hook', 'http://127.0.0.1:4000/', 'https://[::1]/', 'http://a.localhost/'],
    // The addresses of these names are checked when they are resolved.
    ...['http://receiver:8080/hook', 'http://receiver.internal/', 'http://shop.test/'],
  ])('may be %s where the operator has opened loopback and http', (url) => {
    expect(faultIn(url, LOCAL)).toBeUndefined();
  });

  it.each(['10.0.0.1', '169.254.169.254', '[fe80::1]', 'metadata.google.internal', '0.0.0.0'])(
    'may not have the host %s even there',
    (host) => {
      expect(faultIn(`http://${host}/`, LOCAL)).toContain('which is not public');
    },
  );

  it('may be localhost only if loopback is allowed', () => {
    const networks = [parseAddressRange('10.0.0.0/8')!];
    expect(faultIn('https://localhost/', { allowsHttp: true, networks })).toContain('which is not public');
    expect(faultIn('https://10.1.1.1/', { allowsHttp: true, networks })).toBeUndefined();
    for (const loopback of ['127.0.0.0/8', '::1']) {
      const policy = { allowsHttp: true, networks: [parseAddressRange(loopback)!] };
      expect(faultIn('https://localhost/', policy)).toBeUndefined();
    }
  });
});
