import type { RateLimits } from '@posthorn/auth';
import type { Request, Response } from 'express';
import { asDescribed, type DescribedRefusal } from '../openapi/describes.ts';

export const TOO_MANY_GUESSES: DescribedRefusal = {
  status: 429,
  when: 'Too many links that are none',
  message:
    'Too many requests without a valid API key came from this address; wait 3 seconds, or send a valid key',
};

/**
 * Who guesses links is counted as one who guesses keys.
 *
 * @param unknown what a link is answered that there is not
 * @throws Refusal that one; 429 when too many guesses came from its address
 */
export async function refuseGuess(
  limits: Pick<RateLimits, 'countFailure'>,
  request: Request,
  response: Response,
  unknown: DescribedRefusal,
): Promise<never> {
  await limits.countFailure(request, response);
  throw asDescribed(unknown);
}
