import { BoundedMap, Refusal } from '@posthorn/kernel';
import { addToLog } from '@posthorn/platform';
import { hashSecret } from '@posthorn/signing';
import type { Request, Response } from 'express';
import type { Authenticate } from './authenticate.ts';
import { bearerCredential } from './bearer-credential.ts';
import type { Principal } from './principal.ts';
import type { RateLimits } from './rate-limits.ts';

/** Some 5 MB. */
const MAX_RECENT_CALLERS = 10_000;

/** Finds out who a request is from, and whether they have asked too often. */
export class IdentifyCaller {
  /** Who carried which key when it was last asked for, by its hash. */
  private readonly recent = new BoundedMap<string, Principal>(MAX_RECENT_CALLERS);
  private readonly admitted = new WeakSet<Request>();

  constructor(
    private readonly authentication: Pick<Authenticate, 'authenticate'>,
    private readonly limits: Pick<RateLimits, 'countFailure' | 'judge' | 'tell'>,
  ) {}

  /** As {@link identify}, for a request that will be asked again, when all of it has come: it is counted now and not then. */
  async admit(request: Request, response: Response): Promise<Principal> {
    const principal = await this.identify(request, response);
    this.admitted.add(request);
    return principal;
  }

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
      if (this.admitted.has(request)) return await this.authentication.authenticate(hash);
      const known = hash.toString('latin1');
      const guess = this.recent.get(known);
      // Also of a request that is refused before its key has been found.
      if (guess) tellOfCaller(guess);
      const [principal, judged] = await Promise.all([
        this.authentication.authenticate(hash),
        guess && this.limits.judge(guess),
      ]);
      this.recent.set(known, principal);
      tellOfCaller(principal);
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

function tellOfCaller({ workspaceId, apiKeyId }: Principal): void {
  addToLog({ workspaceId, apiKeyId });
}

function isSameBucket(
  guess: Principal | undefined,
  { apiKeyId, ratePerSecond, rateBurst }: Principal,
): boolean {
  return (
    guess?.apiKeyId === apiKeyId && guess.ratePerSecond === ratePerSecond && guess.rateBurst === rateBurst
  );
}
