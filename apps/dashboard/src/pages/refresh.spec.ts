import { expect, it } from '@jest/globals';
import { withoutRefresh } from './refresh.ts';

it.each([
  ['/?by-itself=1', '/'],
  ['/emails?to=ada%40receiver.example&by-itself=1', '/emails?to=ada%40receiver.example'],
  ['/emails?group=why?&by-itself=1', '/emails?group=why%3F'],
  ['/emails?group=why?', '/emails?group=why?'],
  ['/emails', '/emails'],
])('what a page has loaded by itself as %s, somebody asks for as %s', (loaded, asked) => {
  expect(withoutRefresh(loaded)).toBe(asked);
});
