import { type DatabaseClock, fetchBounded, Refusal } from '@posthorn/kernel';
import { claimIn, roleOfClaim, providerUserName } from '@posthorn/domain';
import type { VouchedOperator } from '@posthorn/database';
import type { ProviderOptions } from '@posthorn/platform';
import * as oidc from 'openid-client';
import { sendClientSecret } from './client-secret.ts';
import type { SignInSecrets } from './sign-in-cookie.ts';

const TIMEOUT_SECONDS = 10;
/** How long the provider's metadata is cached. */
const CACHED_FOR_MS = 3_600_000;
/** How long a failed discovery is cached, so that many sign-ins do not repeat it at once. */
const FAILURE_CACHED_FOR_MS = 1_000;

const RESTART_SIGN_IN =
  'This sign-in was not started in this browser, took too long, or has already been used; start again';

/** Far less than tokens are valid, and less than the library tolerates. */
const MACHINE_CLOCK_STEP_SECONDS = 10;

interface CachedConfiguration {
  readonly config: Promise<oidc.Configuration>;
  readonly until: number;
  /** How far the machine's clock was behind. */
  readonly behindSeconds: number;
}

/** The identity provider that operators sign in with (OpenID Connect Core 1.0, section 3.1, with PKCE). */
export class IdentityProvider {
  private cached: CachedConfiguration | undefined;
  private signOutAt: URL | undefined;

  /**
   * @param callback the redirect URI
   * @param clock decides whether an ID token is valid at the moment
   * @param onError called for faults of the provider, or of the connection to it
   */
  constructor(
    private readonly options: ProviderOptions,
    private readonly callback: URL,
    private readonly clock: Pick<DatabaseClock, 'nowMs'>,
    private readonly onError: (error: unknown) => void,
  ) {}

  /** Its display name. */
  get name(): string {
    return new URL(this.options.issuer).hostname;
  }

  /** The authorization URL, and the secrets to verify the callback with. @throws Refusal 503 when the provider does not answer */
  async begin(): Promise<{ readonly url: URL; readonly secrets: SignInSecrets }> {
    const config = await this.configuration();
    const secrets = {
      state: oidc.randomState(),
      nonce: oidc.randomNonce(),
      verifier: oidc.randomPKCECodeVerifier(),
    };
    const url = oidc.buildAuthorizationUrl(config, {
      redirect_uri: this.callback.href,
      scope: this.options.scopes,
      state: secrets.state,
      nonce: secrets.nonce,
      code_challenge: await oidc.calculatePKCECodeChallenge(secrets.verifier),
      code_challenge_method: 'S256',
    });
    return { url, secrets };
  }

  /**
   * Verifies a callback, and gives the operator who has signed in.
   *
   * @param query of the callback's URL
   * @param secrets from the browser's cookie; undefined: it has none
   * @throws Refusal 400 for a sign-in that was not begun here, 403 when the provider refuses it or gives no role, 503 when the provider gives no
   *   valid answer
   */
  async finish(query: string, secrets: SignInSecrets | undefined): Promise<VouchedOperator> {
    const callbackUrl = new URL(this.callback);
    callbackUrl.search = query;
    if (secrets === undefined || callbackUrl.searchParams.get('state') !== secrets.state)
      throw new Refusal(400, RESTART_SIGN_IN);
    const config = await this.configuration();
    if (!isValidCallback(config.serverMetadata(), callbackUrl.searchParams))
      throw new Refusal(400, RESTART_SIGN_IN);
    try {
      return this.operatorFrom(await this.claimsOf(config, callbackUrl, secrets));
    } catch (error) {
      throw this.refusalOf(error);
    }
  }

  /**
   * Where people sign out at the provider too; undefined: it has no such page, or its metadata is not known yet. Does not wait for the metadata.
   */
  get signOutUrl(): URL | undefined {
    void this.configuration().catch(() => undefined);
    return this.signOutAt;
  }

  private configuration(): Promise<oidc.Configuration> {
    // The library reads the machine's clock, which may be wrong by more than the five minutes that the tokens of some providers are valid.
    const behindSeconds = Math.round((this.clock.nowMs() - Date.now()) / 1_000);
    if (this.cached === undefined || !isCurrent(this.cached, behindSeconds)) {
      const config = this.discover(behindSeconds);
      this.cached = { config, behindSeconds, until: performance.now() + CACHED_FOR_MS };
      config.catch(
        () => (this.cached = { config, behindSeconds, until: performance.now() + FAILURE_CACHED_FOR_MS }),
      );
    }
    return this.cached.config;
  }

  private async discover(behindSeconds: number): Promise<oidc.Configuration> {
    const { issuer, clientId, clientSecret } = this.options;
    const url = new URL(issuer);
    const authentication = clientSecret === undefined ? oidc.None() : sendClientSecret(clientSecret);
    const execute = [oidc.enableNonRepudiationChecks];
    if (url.protocol === 'http:') execute.push(oidc.allowInsecureRequests);
    try {
      const config = await oidc.discovery(
        url,
        clientId,
        { [oidc.clockSkew]: behindSeconds },
        authentication,
        {
          execute,
          timeout: TIMEOUT_SECONDS,
          [oidc.customFetch]: fetchBounded as oidc.CustomFetch,
        },
      );
      // Throws for an invalid authorization endpoint here, where the failure is cached only for a short time.
      oidc.buildAuthorizationUrl(config, {});
      this.signOutAt = this.signOutUrlFrom(config);
      return config;
    } catch (error) {
      this.onError(withoutResponse(error));
      throw new Refusal(503, `${this.name} does not answer right now; try again in a moment`);
    }
  }

  private signOutUrlFrom(config: oidc.Configuration): URL | undefined {
    if (config.serverMetadata().end_session_endpoint === undefined) return undefined;
    const back = new URL('/sign-in', this.callback).href;
    return oidc.buildEndSessionUrl(config, { post_logout_redirect_uri: back });
  }

  /** The claims of the ID token; where it has none for the role, also those of UserInfo. */
  private async claimsOf(
    config: oidc.Configuration,
    callbackUrl: URL,
    { state, nonce, verifier }: SignInSecrets,
  ): Promise<oidc.IDToken> {
    const tokens = await oidc.authorizationCodeGrant(config, callbackUrl, {
      expectedState: state,
      expectedNonce: nonce,
      pkceCodeVerifier: verifier,
      idTokenExpected: true,
    });
    const claims = tokens.claims()!;
    const hasRole = claimIn(claims, this.options.roleClaim) !== undefined;
    if (hasRole || config.serverMetadata().userinfo_endpoint === undefined) return claims;
    const more = await oidc.fetchUserInfo(config, tokens.access_token, claims.sub);
    return { ...more, ...claims };
  }

  private operatorFrom(claims: oidc.IDToken): VouchedOperator {
    const { issuer, nameClaim, roleClaim, roles } = this.options;
    const role = roleOfClaim(claimIn(claims, roleClaim), roles);
    if (role === undefined)
      throw new Refusal(
        403,
        `${this.name} knows you, but gives you no role here; whoever runs Posthorn says which of its groups have one`,
      );
    return { issuer, role, name: providerUserName(claimIn(claims, nameClaim), claims.sub, issuer) };
  }

  private refusalOf(error: unknown): Refusal {
    if (error instanceof Refusal) return error;
    if (error instanceof oidc.AuthorizationResponseError)
      return new Refusal(403, `${this.name} did not let you in`);
    this.onError(withoutResponse(error));
    return error instanceof oidc.ResponseBodyError && error.error === 'invalid_grant'
      ? new Refusal(400, RESTART_SIGN_IN)
      : new Refusal(503, `${this.name} gave an invalid answer; whoever runs Posthorn finds why in the log`);
  }
}

function isCurrent({ until, behindSeconds }: CachedConfiguration, nowBehindSeconds: number): boolean {
  const stepSeconds = Math.abs(nowBehindSeconds - behindSeconds);
  return until >= performance.now() && stepSeconds < MACHINE_CLOCK_STEP_SECONDS;
}

/** Whether the parameters can be an authorization response of this provider: a code or an error, none repeated, and a matching `iss` (RFC 9207). */
function isValidCallback(
  { issuer, authorization_response_iss_parameter_supported: sendsIssuer = false }: oidc.ServerMetadata,
  params: URLSearchParams,
): boolean {
  const issuers = params.getAll('iss');
  const isOfIssuer = issuers.length === 0 ? !sendsIssuer : issuers.length === 1 && issuers[0] === issuer;
  const isOnce = ['code', 'state', 'error'].every((name) => params.getAll(name).length <= 1);
  return isOfIssuer && isOnce && Boolean(params.get('code') ?? params.get('error'));
}

/** An error that can be logged: without the provider's response, which may hold tokens. */
function withoutResponse(error: unknown): Error {
  const { message, code, error: said } = error as { message?: unknown; code?: unknown; error?: unknown };
  const words = [said, code, message].filter((word) => typeof word === 'string');
  return new Error(`the identity provider: ${words.join(', ').slice(0, 300)}`);
}
