import { describe, expect, it } from '@jest/globals';
import { hostNameIn, hostNameOf, parseTrackingUrl } from './tracking-url.ts';

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

describe('S17: the name of a host', () => {
  it.each([
    ['https://links.example.com', 'links.example.com'],
    ['https://links.example.com.', 'links.example.com'],
    ['http://localhost:3000/below', 'localhost'],
    ['http://[2001:db8::1]:8080', '[2001:db8::1]'],
  ])('in a URL has no port and no dot at its end: %s', (url, name) => {
    expect(hostNameOf(url)).toBe(name);
  });

  it.each([
    ['links.example.com', 'links.example.com'],
    ['LINKS.example.com.:443', 'links.example.com'],
    ['[2001:db8::1]:8080', '[2001:db8::1]'],
    ['verweise.xn--bcher-kva.example', 'verweise.xn--bcher-kva.example'],
    [undefined, undefined],
    ['', undefined],
    ['.', ''],
    ['a_b', undefined],
    ['a b', undefined],
    ['links.example.com/x', undefined],
    ['user@links.example.com', undefined],
    ['links.example.com:99999', undefined],
    ['x'.repeat(10_000), undefined],
  ])('in a Host header is the same: %j', (header, name) => {
    expect(hostNameIn(header)).toBe(name);
  });
});
