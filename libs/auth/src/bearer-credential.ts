import type { IncomingMessage } from 'node:http';
import { Refusal } from '@posthorn/kernel';
import { headerValues } from '@posthorn/platform';
import { isWellFormedSecret } from '@posthorn/signing';

/** The scheme is case-insensitive (RFC 9110, section 11.1); one space, then the token (RFC 6750, section 2.1). */
const BEARER = /^bearer +([!-~]+) *$/i;

/**
 * The API key of a request.
 *
 * @throws Refusal (401) when there is none, more than one, or one that cannot be a key
 */
export function bearerCredential(request: Pick<IncomingMessage, 'rawHeaders'>): string {
  const values = headerValues(request, 'authorization');
  if (values.length === 0) throw missingKey();
  // A proxy in front may have checked another one than we would.
  if (values.length > 1)
    throw unauthorized('There is more than one `Authorization` header; send exactly one');
  const token = BEARER.exec(values[0]!)?.[1];
  if (token === undefined)
    throw unauthorized(
      'The `Authorization` header is not of the form `Bearer <API key>`; send `Authorization: Bearer <API key>`',
    );
  if (!isWellFormedSecret(token)) throw unauthorized('The API key is malformed; copy it again, whole');
  return token;
}

/** For a request without a key. */
export function missingKey(): Refusal {
  return unauthorized('The `Authorization` header is missing; send `Authorization: Bearer <API key>`');
}

/** For a key that is well-formed but does not exist. */
export function unknownKey(): Refusal {
  return unauthorized('The API key is not valid; it may have been deleted');
}

/** A 401 with a challenge (RFC 6750, section 3; without `error`, since `message` says more). */
export function unauthorized(message: string): Refusal {
  return new Refusal(401, message, { challenge: 'Bearer' });
}
