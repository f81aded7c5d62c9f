import { expect, it } from '@jest/globals';
import { faultyTermIn } from './spf-syntax.ts';

it.each([
  'v=spf1',
  'v=spf1  a mx  ~all ',
  'V=SPF1 +MX A:mail.example.com/24 a/24//64 mx//64 ptr ptr:example.com ?all',
  'v=spf1 include:_spf.example.com. exists:%{i}._spf.%{d2} -ip4:192.0.2.1 ip4:192.0.2.0/24 ip6:2001:db8::/32 -all',
  'v=spf1 redirect=%{d}._spf.example.com exp=why.example.com unknown=anything all=~ v=spf1',
  'v=spf1 redirect=_spf.example.com',
])('%j has no faulty part', (record) => {
  expect(faultyTermIn(record)).toBeUndefined();
});

it.each([
  'ip4:192.0.2',
  'ip4:192.0.2.0/33',
  'ip4:mail.example.com',
  'ipv4:192.0.2.1',
  'ip:192.0.2.1',
  'ip6:192.0.2.1',
  '192.0.2.1',
  'mail.example.com',
  'include:',
  'include:localhost',
  'include:_spf.example.com;',
  'include:a.example.com,include:b.example.com',
  'include:https://_spf.example.com',
  'exists',
  'a:/24',
  'a/33',
  'mx/24/64',
  '~',
  '~all;',
  'all:example.com',
  'redirect=',
  '=',
  'include:_spf.example.com\u00c2\u00a0~all',
])('%j is the faulty part of a record', (term) => {
  expect(faultyTermIn(`v=spf1 mx ${term} ~all`)).toBe(term);
  expect(faultyTermIn(`v=spf1 -all ${term}`)).toBe(term);
});
