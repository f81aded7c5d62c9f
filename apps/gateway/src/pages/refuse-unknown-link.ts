import type { Refusal } from '@posthorn/kernel';
import { type RateLimits, tooManyInvalidLinks } from '@posthorn/auth';
import type { Response } from 'express';

/**
 * Refuses a link that does not exist, and counts it as a failed authentication, since the client may be guessing links.
 *
 * @param unknown the answer to a link that does not exist
 * @throws Refusal `unknown`, or 429 when too many guesses came from the client's address
 */
export async function refuseUnknownLink(
  limits: Pick<RateLimits, 'countFailure'>,
  response: Response,
  unknown: Refusal,
): Promise<never> {
  await limits.countFailure(response.req, response, tooManyInvalidLinks);
  throw unknown;
}
