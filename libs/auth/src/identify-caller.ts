import { Refusal } from '@posthorn/kernel';
import type { Request, Response } from 'express';
import type { Authenticate } from './authenticate.ts';
import { bearerCredential } from './bearer-credential.ts';
import type { Principal } from './principal.ts';
import type { RateLimits } from './rate-limits.ts';

/** Finds out who a request is from. */
export class IdentifyCaller {
  constructor(
    private readonly authentication: Pick<Authenticate, 'authenticate'>,
    private readonly limits: Pick<RateLimits, 'countFailure'>,
  ) {}

  /**
   * Who it is; who carries no valid key is counted, and told in the answer how their address stands.
   *
   * @throws Refusal 401 when the key is nobody's, 429 when too many of those came from the address, 503 when nobody can be asked
   */
  async identify(request: Request, response: Response): Promise<Principal> {
    try {
      return await this.authentication.authenticate(bearerCredential(request));
    } catch (error) {
      if (error instanceof Refusal && error.statusCode === 401)
        await this.limits.countFailure(request, response);
      throw error;
    }
  }
}
