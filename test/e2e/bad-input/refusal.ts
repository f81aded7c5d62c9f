import { expect } from '@jest/globals';
import type { Answer } from '../api.ts';

const PHRASES: Record<number, string> = {
  400: 'Bad Request',
  401: 'Unauthorized',
  403: 'Forbidden',
  404: 'Not Found',
  405: 'Method Not Allowed',
  409: 'Conflict',
  410: 'Gone',
  413: 'Payload Too Large',
  415: 'Unsupported Media Type',
  429: 'Too Many Requests',
  431: 'Request Header Fields Too Large',
};

/** Matches internal details (stack traces, SQL, hosts), which no message may show. */
const INTERNAL =
  /\bat .+\.[cm]?[jt]s:\d+|\bat .*\(?node:|node_modules|\b(SELECT|INSERT|prisma|postgres(ql)?|redis|ECONN\w+)\b|undefined/i;

const THREE_FIELDS = ['statusCode', 'error', 'message'];
const MORE_FIELDS = ['allowedEmails', 'allowedDomains', 'docsUrl'];
const SHORT_CHARACTERS = 4_000;

/**
 * Checks what every refusal must have: the expected status, exactly the fields of the error body, and a short message that
 * names what is wrong and shows no internal details.
 *
 * @param names what the message must contain, or match
 */
export function expectRefusal(answer: Answer, status: number, names: string | RegExp): void {
  const { statusCode, error, message } = answer.body;
  // Together, so that a failure shows the whole answer.
  expect({ status: answer.status, statusCode, error, message }).toEqual({
    status,
    statusCode: status,
    error: PHRASES[status],
    message: typeof names === 'string' ? expect.stringContaining(names) : expect.stringMatching(names),
  });
  const fields = Object.keys(answer.body);
  expect(fields.slice(0, 3)).toEqual(THREE_FIELDS);
  expect(MORE_FIELDS).toEqual(expect.arrayContaining(fields.slice(3)));
  expect(answer.headers.get('content-type')).toBe('application/json; charset=utf-8');
  expect(answer.headers.get('x-request-id')).toMatch(/^[A-Za-z0-9._-]{1,128}$/);
  expect(answer.text.length).toBeLessThan(SHORT_CHARACTERS);
  expect(message).not.toMatch(INTERNAL);
}
