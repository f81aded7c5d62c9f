import { describe, expect, it } from '@jest/globals';
import { parseSendingAddress, parseSendingDomain } from './identity-value.ts';

describe('A domain to send from', () => {
  it.each([
    ['Example.COM', 'example.com'],
    ['bücher.example', 'xn--bcher-kva.example'],
    ['mail.example.co.uk', 'mail.example.co.uk'],
  ])('%s is %s', (text, domain) => {
    expect(parseSendingDomain(text)).toEqual({ domain });
  });

  it.each([
    ['', 'is empty'],
    ['https://example.com', 'is more than a domain'],
    ['ada@example.com', 'is more than a domain'],
    ['localhost', 'has no dot'],
    ['example..com', 'two in a row'],
    ['192.0.2.1', 'is an IP address'.replace('is', 'has')],
    [`${'a.'.repeat(115)}example.com`, 'leaves no room'],
  ])('%j is refused: %s', (text, fault) => {
    expect(parseSendingDomain(text)).toEqual({ fault: expect.stringContaining(fault) });
  });
});

describe('An address to send from', () => {
  it.each([
    ['Ada@Example.COM', 'Ada@example.com'],
    ['<ada@example.com>', 'ada@example.com'],
  ])('%s is %s', (text, address) => {
    expect(parseSendingAddress(text)).toEqual({ address });
  });

  it.each([
    ['Ada <ada@example.com>', 'has a name beside it'],
    ['ada', 'has no `@`; give the address alone'],
    ['ada@example.com, bob@example.com', 'names more than one'],
  ])('%j is refused: %s', (text, fault) => {
    expect(parseSendingAddress(text)).toEqual({ fault: expect.stringContaining(fault) });
  });
});
