import { randomBase62 } from './random-text.ts';
import { SECRET_PREFIXES } from './secret-prefixes.ts';

const RANDOM_CHARACTERS = 32;

/** A new token of a webhook: `wht_` and 32 random characters of base 62 (190 bits). */
export function newWebhookToken(): string {
  return SECRET_PREFIXES.webhookToken + randomBase62(RANDOM_CHARACTERS);
}
