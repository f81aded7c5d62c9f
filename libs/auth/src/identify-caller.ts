import { Refusal } from '@posthorn/kernel';
import { hashSecret } from '@posthorn/signing';
import type { Request, Response } from 'express';
import type { Authenticate } from './authenticate.ts';
import { bearerCredential } from './bearer-credential.ts';
import type { Principal } from './principal.ts';
import type { RateLimits } from './rate-limits.ts';
import { RecentCallers } from './recent-callers.ts';

/** Some 5 MB. */
const MOST_RECENT_CALLERS = 10_000;

/** Finds out who a request is from, and whether they have asked too often. */
export class IdentifyCaller {
  private readonly recent = new RecentCallers(MOST_RECENT_CALLERS);

  constructor(
    private readonly authentication: Pick<Authenticate, 'authenticate'>,
    private readonly limits: Pick<RateLimits, 'countFailure' | 'judge' | 'tell'>,
  ) {}

  /**
   * Who it is. Their request is counted, and the answer says how their key stands; where there is no valid key, how their address stands.
   *
   * Whose bucket to ask for is guessed by who carried this key last, so that both questions travel at the same time. The guess decides nothing: a key
   * that has been deleted is refused by its look-up, and where somebody's limit has changed their bucket is asked for anew.
   *
   * @throws Refusal 401 when the key is nobody's, 429 when there were too many requests, 503 when nobody can be asked
   */
  async identify(request: Request, response: Response): Promise<Principal> {
    try {
      const hash = hashSecret(bearerCredential(request));
      const guess = this.recent.find(hash);
      const [principal, judged] = await Promise.all([
        this.authentication.authenticate(hash),
        guess && this.limits.judge(guess),
      ]);
      this.recent.note(hash, principal);
      this.limits.tell(
        response,
        isSameBucket(guess, principal) ? judged! : await this.limits.judge(principal),
      );
      return principal;
    } catch (error) {
      if (error instanceof Refusal && error.statusCode === 401)
        await this.limits.countFailure(request, response);
      throw error;
    }
  }
}

function isSameBucket(
  guess: Principal | undefined,
  { apiKeyId, ratePerSecond, rateBurst }: Principal,
): boolean {
  return (
    guess?.apiKeyId === apiKeyId && guess.ratePerSecond === ratePerSecond && guess.rateBurst === rateBurst
  );
}
