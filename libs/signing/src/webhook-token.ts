import { randomBase62 } from './random-text.ts';

const RANDOM_CHARACTERS = 32;

/** A new token of a webhook: `wht_` and 32 random characters of base 62 (190 bits). */
export function newWebhookToken(): string {
  return `wht_${randomBase62(RANDOM_CHARACTERS)}`;
}
