import { expect, it } from '@jest/globals';
import { answerToUnrouted, type RouterLayer } from './known-methods.ts';

const layer = (path: string, methods: string[], matches: RegExp): RouterLayer => ({
  route: { path, methods: Object.fromEntries(methods.map((method) => [method, true])) },
  match: (asked) => matches.test(asked),
});
const STACK = [
  layer('/v1/emails/batch', ['post'], /^\/v1\/emails\/batch$/),
  layer('/v1/emails/:email_id', ['get', 'post'], /^\/v1\/emails\/[^/]+$/),
];

it.each([
  ['/v1/emails/batch', 'POST'],
  ['/v1/emails/trs_1', 'GET, HEAD, POST'],
])('G2: an unknown method is answered with the methods of %s', (path, allow) => {
  expect(answerToUnrouted(STACK, 'BREW', path).headers).toMatchObject({ Allow: allow });
});
