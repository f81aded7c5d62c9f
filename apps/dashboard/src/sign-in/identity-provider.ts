import { Refusal } from '@posthorn/kernel';
import { claimIn, roleOfClaim, vouchedName } from '@posthorn/domain';
import type { VouchedOperator } from '@posthorn/database';
import type { ProviderOptions } from '@posthorn/platform';
import * as oidc from 'openid-client';
import { fetchBounded } from './bounded-fetch.ts';
import type { SignInSecrets } from './sign-in-cookie.ts';

const ANSWERS_WITHIN_SECONDS = 10;
/** What a provider says of itself is asked for again after this long. */
const KNOWN_FOR_MS = 3_600_000;
/** One that did not answer is not asked again at once, however many want to sign in. */
const AWAY_FOR_MS = 1_000;

const BEGIN_AGAIN =
  'This sign-in was not begun in this browser, took too long, or was used already; begin again';

interface Known {
  readonly config: Promise<oidc.Configuration>;
  readonly until: number;
}

/** The identity provider by whose word operators sign in (OpenID Connect Core 1.0, section 3.1, with PKCE). */
export class IdentityProvider {
  private known: Known | undefined;
  private signOutAt: URL | undefined;

  /**
   * @param callback where the provider sends people back to
   * @param onError told of what is wrong with the provider, or between it and us
   */
  constructor(
    private readonly options: ProviderOptions,
    private readonly callback: URL,
    private readonly onError: (error: unknown) => void,
  ) {}

  /** What people know it by. */
  get name(): string {
    return new URL(this.options.issuer).hostname;
  }

  /** Where to send somebody who wants to sign in, with what is to be brought back. @throws Refusal 503 when the provider does not answer */
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
   * Who somebody is that was sent back.
   *
   * @param query of the address that the provider sent them to
   * @param secrets what they brought back; undefined: nothing
   * @throws Refusal 400 for a sign-in that was not begun here, 403 for who is refused there or has no role here, 503 when the provider does
   *   not answer as it must
   */
  async finish(query: string, secrets: SignInSecrets | undefined): Promise<VouchedOperator> {
    const returnedTo = new URL(this.callback);
    returnedTo.search = query;
    if (secrets === undefined || returnedTo.searchParams.get('state') !== secrets.state)
      throw new Refusal(400, BEGIN_AGAIN);
    const config = await this.configuration();
    if (!isAnswerOf(config.serverMetadata(), returnedTo.searchParams)) throw new Refusal(400, BEGIN_AGAIN);
    try {
      return this.operatorBy(await this.claimsOf(config, returnedTo, secrets));
    } catch (error) {
      throw this.refusalOf(error);
    }
  }

  /**
   * Where people sign out at the provider too; undefined: it has no such page, or has not been asked yet. Nobody waits for it to answer.
   */
  get signOutUrl(): URL | undefined {
    void this.configuration().catch(() => undefined);
    return this.signOutAt;
  }

  private configuration(): Promise<oidc.Configuration> {
    if (this.known === undefined || this.known.until < performance.now()) {
      const config = this.discover();
      this.known = { config, until: performance.now() + KNOWN_FOR_MS };
      config.catch(() => (this.known = { config, until: performance.now() + AWAY_FOR_MS }));
    }
    return this.known.config;
  }

  private async discover(): Promise<oidc.Configuration> {
    const { issuer, clientId, clientSecret } = this.options;
    const url = new URL(issuer);
    const authentication = clientSecret === undefined ? oidc.None() : oidc.ClientSecretBasic(clientSecret);
    const execute = [oidc.enableNonRepudiationChecks];
    if (url.protocol === 'http:') execute.push(oidc.allowInsecureRequests);
    try {
      const config = await oidc.discovery(url, clientId, undefined, authentication, {
        execute,
        timeout: ANSWERS_WITHIN_SECONDS,
        [oidc.customFetch]: fetchBounded,
      });
      // Found out here, where it is asked for again soon: nobody could be sent to what is no address.
      oidc.buildAuthorizationUrl(config, {});
      this.signOutAt = this.signOutUrlBy(config);
      return config;
    } catch (error) {
      this.onError(withoutAnswer(error));
      throw new Refusal(503, `${this.name} does not answer just now; try again in a moment`);
    }
  }

  private signOutUrlBy(config: oidc.Configuration): URL | undefined {
    if (config.serverMetadata().end_session_endpoint === undefined) return undefined;
    const back = new URL('/sign-in', this.callback).href;
    return oidc.buildEndSessionUrl(config, { post_logout_redirect_uri: back });
  }

  /** What the ID token says; where it does not say what roles follow from, also what UserInfo says. */
  private async claimsOf(
    config: oidc.Configuration,
    returnedTo: URL,
    { state, nonce, verifier }: SignInSecrets,
  ): Promise<oidc.IDToken> {
    const tokens = await oidc.authorizationCodeGrant(config, returnedTo, {
      expectedState: state,
      expectedNonce: nonce,
      pkceCodeVerifier: verifier,
      idTokenExpected: true,
    });
    const claims = tokens.claims()!;
    const isSaid = claimIn(claims, this.options.roleClaim) !== undefined;
    if (isSaid || config.serverMetadata().userinfo_endpoint === undefined) return claims;
    const more = await oidc.fetchUserInfo(config, tokens.access_token, claims.sub);
    return { ...more, ...claims };
  }

  private operatorBy(claims: oidc.IDToken): VouchedOperator {
    const { issuer, nameClaim, roleClaim, roles } = this.options;
    const role = roleOfClaim(claimIn(claims, roleClaim), roles);
    if (role === undefined)
      throw new Refusal(
        403,
        `${this.name} knows you, but gives you no role here; whoever runs Posthorn says which of its groups have one`,
      );
    return { issuer, role, name: vouchedName(claimIn(claims, nameClaim), claims.sub, issuer) };
  }

  private refusalOf(error: unknown): Refusal {
    if (error instanceof Refusal) return error;
    if (error instanceof oidc.AuthorizationResponseError)
      return new Refusal(403, `${this.name} did not let you in`);
    this.onError(withoutAnswer(error));
    return error instanceof oidc.ResponseBodyError && error.error === 'invalid_grant'
      ? new Refusal(400, BEGIN_AGAIN)
      : new Refusal(503, `${this.name} gave an invalid answer; whoever runs Posthorn finds why in the log`);
  }
}

/** Whether what somebody brings back can be what the provider sent along: a code or why there is none, each once, by its own word (RFC 9207). */
function isAnswerOf(
  { issuer, authorization_response_iss_parameter_supported: saysWhoItIs = false }: oidc.ServerMetadata,
  brought: URLSearchParams,
): boolean {
  const issuers = brought.getAll('iss');
  const isOfIssuer = issuers.length === 0 ? !saysWhoItIs : issuers.length === 1 && issuers[0] === issuer;
  const isOnce = ['code', 'state', 'error'].every((name) => brought.getAll(name).length <= 1);
  return isOfIssuer && isOnce && Boolean(brought.get('code') ?? brought.get('error'));
}

/** Answers of a provider hold tokens. */
function withoutAnswer(error: unknown): Error {
  const { message, code, error: said } = error as { message?: unknown; code?: unknown; error?: unknown };
  const words = [said, code, message].filter((word) => typeof word === 'string');
  return new Error(`the identity provider: ${words.join(', ').slice(0, 300)}`);
}
