import { expect, it } from '@jest/globals';
import { newWebhookToken } from './webhook-token.ts';

it('W3: a generated token is `wht_` and 32 random characters', () => {
  const tokens = Array.from({ length: 500 }, newWebhookToken);
  for (const token of tokens) expect(token).toMatch(/^wht_[0-9A-Za-z]{32}$/);
  expect(new Set(tokens).size).toBe(500);
  expect(new Set(tokens.join('').slice(4)).size).toBeGreaterThanOrEqual(62);
});
