import type { Refusal } from '@posthorn/kernel';
import type { RateLimits } from '@posthorn/auth';
import type { Request, Response } from 'express';

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
  unknown: Refusal,
): Promise<never> {
  await limits.countFailure(request, response);
  throw unknown;
}
