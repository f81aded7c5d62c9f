import { expect, it } from '@jest/globals';
import { withoutRefresh } from './refresh.ts';

it.each([
  ['/?by-itself=1', '/'],
  ['/emails?to=ada%40receiver.example&by-itself=1', '/emails?to=ada%40receiver.example'],
  ['/emails?group=why?&by-itself=1', '/emails?group=why%3F'],
  ['/emails?group=why?', '/emails?group=why?'],
  ['/emails', '/emails'],
])('the path %s without the mark of a refresh is %s', (loaded, expected) => {
  expect(withoutRefresh(loaded)).toBe(expected);
});
