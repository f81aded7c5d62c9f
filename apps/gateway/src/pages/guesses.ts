import type { DescribedRefusal } from '../openapi/describes.ts';

/** Who guesses links is counted as one who guesses keys. */
export const TOO_MANY_GUESSES: DescribedRefusal = {
  status: 429,
  when: 'Too many links that are none',
  message:
    'Too many requests without a valid API key came from this address; wait 3 seconds, or send a valid key',
};
