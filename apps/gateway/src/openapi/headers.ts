import { SIZES } from '@posthorn/domain';
import type { Part } from './document-types.ts';

/** Response headers by name. */
export const ANSWER_HEADERS = {
  'X-Request-Id': {
    description:
      'Names the request in the logs of the service. One that the request itself carries is kept: up to 128 of `A–Z a–z 0–9 . _ -`.',
    schema: { type: 'string', examples: ['3b241101-e2bb-4255-8caf-4136c566a962'] },
  },
  'RateLimit': {
    description:
      'How many requests may be made right now (`r`), and in how many seconds one more becomes available (`t`): the IETF draft “RateLimit header fields for HTTP”. Of the key, under `"key"`; of the client’s address where no valid key was checked, under `"failed-authentications"`.',
    schema: { type: 'string', examples: ['"key";r=199;t=1'] },
  },
  'RateLimit-Policy': {
    description: 'The limit: up to `q` requests in `w` seconds are never refused for their number.',
    schema: { type: 'string', examples: ['"key";q=200;w=2'] },
  },
  'Retry-After': {
    description: 'How many seconds to wait before trying again.',
    schema: { type: 'integer', minimum: 1, examples: [1] },
  },
  'WWW-Authenticate': {
    description: 'How to authenticate (RFC 9110): `Bearer`, with an API key.',
    schema: { type: 'string', enum: ['Bearer'] },
  },
  'Idempotent-Replayed': {
    description:
      'Present, and `true`, when this answer is the one that the first call with the idempotency key got.',
    schema: { type: 'string', enum: ['true'] },
  },
  'ETag': {
    description: 'Changes when the content does.',
    schema: { type: 'string', examples: ['"3f6a1c"'] },
  },
} as const satisfies Record<string, Part>;

export type AnswerHeader = keyof typeof ANSWER_HEADERS;

/** The `headers` of an answer in the document. */
export function answerHeaders(names: readonly AnswerHeader[]): Part {
  return Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${name}` }]));
}

/** The header of conditional requests (RFC 9110, section 13.1.2). */
export const IF_NONE_MATCH_PARAMETER = {
  name: 'If-None-Match',
  in: 'header',
  description: 'The `ETag` of an earlier answer: if nothing has changed since, the status is 304.',
  schema: { type: 'string' },
} as const;

/** The request header equivalent to the field `idempotencyKey`. */
export const IDEMPOTENCY_KEY_PARAMETER = {
  name: 'Idempotency-Key',
  in: 'header',
  description:
    'A second call with the same key and the same body does nothing and gets the first answer again, byte for byte; with another body it is refused (409). Kept for 30 days.',
  schema: {
    type: 'string',
    minLength: 1,
    maxLength: SIZES.idempotencyKey.max,
    pattern: '^[ -~]+$',
  },
} as const;
