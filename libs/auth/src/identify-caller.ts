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

/** Authenticates requests and enforces their rate limits. */
export class IdentifyCaller {
  /** The holder of each key at its last look-up, by the key's hash. */
  private readonly recent = new BoundedMap<string, Principal>(MAX_RECENT_CALLERS);
  private readonly admitted = new WeakSet<Request>();

  constructor(
    private readonly authentication: Pick<Authenticate, 'authenticate'>,
    private readonly limits: Pick<RateLimits, 'countFailure' | 'judge' | 'enforce'>,
  ) {}

  /** As {@link identify}, before the body is read. When {@link identify} is called for the same request later, it is not counted again. */
  async admit(request: Request, response: Response): Promise<Principal> {
    const principal = await this.identify(request, response);
    this.admitted.add(request);
    return principal;
  }

  /**
   * Authenticates a request, counts it, and sets the rate limit headers: of its key, or of its address where it has no valid key.
   *
   * The look-up of the key and the rate limit run in parallel, the latter for the holder that the key had last. That decides nothing: a deleted
   * key is refused by its look-up. Where the limit has changed, a request that the old one allows has its token, and any other is judged by
   * the new one.
   *
   * @throws Refusal 401 without a valid key, 429 for too many requests, 503 when the key cannot be looked up
   */
  async identify(request: Request, response: Response): Promise<Principal> {
    try {
      const hash = hashSecret(bearerCredential(request));
      if (this.admitted.has(request)) return await this.authentication.authenticate(hash);
      const cacheKey = hash.toString('latin1');
      const cached = this.recent.get(cacheKey);
      // For the log of a request that is refused before the look-up has ended.
      if (cached) addCallerToLog(cached);
      const [principal, guess] = await Promise.all([
        this.authentication.authenticate(hash),
        cached && this.limits.judge(cached),
      ]);
      this.recent.set(cacheKey, principal);
      addCallerToLog(principal);
      this.limits.enforce(
        response,
        guess?.verdict.allowed || hasSameLimit(cached, principal)
          ? guess!
          : await this.limits.judge(principal),
      );
      return principal;
    } catch (error) {
      if (error instanceof Refusal && error.statusCode === 401)
        await this.limits.countFailure(request, response);
      throw error;
    }
  }
}

function addCallerToLog({ workspaceId, apiKeyId }: Principal): void {
  addToLog({ workspaceId, apiKeyId });
}

function hasSameLimit(
  cached: Principal | undefined,
  { apiKeyId, ratePerSecond, rateBurst }: Principal,
): boolean {
  return (
    cached?.apiKeyId === apiKeyId && cached.ratePerSecond === ratePerSecond && cached.rateBurst === rateBurst
  );
}
