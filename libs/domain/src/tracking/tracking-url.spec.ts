import { describe, expect, it } from '@jest/globals';
import { parseTrackingUrl } from './tracking-url.ts';

describe('S17: the address of tracked links', () => {
  it.each([
    ['https://links.example.com', 'https://links.example.com'],
    ['https://Links.Example.COM/', 'https://links.example.com'],
    ['http://localhost:3000', 'http://localhost:3000'],
    ['https://links.example.com:443', 'https://links.example.com'],
    ['https://verweise.bücher.example', 'https://verweise.xn--bcher-kva.example'],
    ['http://[2001:db8::1]:8080/', 'http://[2001:db8::1]:8080'],
  ])('is a scheme and a host: %s', (text, url) => {
    expect(parseTrackingUrl(text)).toEqual({ url });
  });

  it.each([
    ['', 'is not a URL'],
    ['links.example.com', 'is not a URL'],
    ['https://', 'is not a URL'],
    ['https://links.example.com\r\nBcc: x', 'is not a URL'],
    [' https://links.example.com', 'is not a URL'],
    [`https://${'x'.repeat(300)}.example`, 'is not a URL'],
    ['ftp://links.example.com', 'begins with neither'],
    ['javascript:alert(1)', 'begins with neither'],
    ['https://a:b@links.example.com', 'has a user name'],
    ['https://a@links.example.com', 'has a user name'],
    ['https://links.example.com/t', 'has more than a host'],
    ['https://links.example.com?', 'has more than a host'],
    ['https://links.example.com/#x', 'has more than a host'],
    ['https://a_"b.example', 'has a host'],
  ])('is not %j', (text, fault) => {
    expect(parseTrackingUrl(text)).toEqual({ fault: expect.stringContaining(fault) });
  });
});
