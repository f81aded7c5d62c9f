import { isNativeError } from 'node:util/types';
import { sanitizeText } from '@posthorn/domain';
import { fetchBounded, suspensionProofNowMs } from '@posthorn/kernel';
import * as oauth from 'openid-client';
import { describeError } from './connection-fault.ts';

const TIMEOUT_SECONDS = 10;
/** Used when the answer does not say how long the token is valid (RFC 6749, section 5.1, only recommends that it does). */
const DEFAULT_LIFETIME_SECONDS = 3_600;
/** After this part of its lifetime a token is replaced; for the rest, it still serves while the token endpoint fails. */
const RENEWED_AFTER = 0.8;
/** A token that the relay refuses when it is younger than this is not replaced: a new one would be refused too. */
const FRESH_MS = 60_000;
/** How long after a failed renewal the next is tried, while the current token is valid. */
const RETRY_MS = 30_000;
/** What may be in the Authorization header (RFC 6750, section 2.1), and fits into a line of AUTH (RFC 4954, section 4). */
const TOKEN = /^[\x21-\x7e]{1,8192}$/;

/** How access tokens are requested: with a refresh token if there is one, otherwise as the client itself. */
export interface TokenOptions {
  readonly tokenUrl: string;
  readonly clientId: string;
  /** Undefined: it is a public client. */
  readonly clientSecret?: string | undefined;
  readonly scope?: string | undefined;
  /** Of the user who has granted access (RFC 6749, section 6). Undefined: the client credentials grant (section 4.4). */
  readonly refreshToken?: string | undefined;
}

interface Token {
  readonly value: string;
  readonly requestedAtMs: number;
  readonly expiresAtMs: number;
  renewAtMs: number;
}

/** The OAuth 2.0 access tokens that relays are logged in to with (RFC 6749): one at a time, kept while it is valid, and requested once for all who wait for it. */
export class AccessTokens {
  private readonly config: oauth.Configuration;
  private refreshToken: string | undefined;
  private token: Token | undefined;
  private request: Promise<Token> | undefined;

  /**
   * @param onRenewalFailed called with the reason whenever a token could not be renewed that still serves for so many seconds
   * @param nowMs a clock that never goes back, in milliseconds
   */
  constructor(
    private readonly options: TokenOptions,
    private readonly onRenewalFailed: (reason: string, secondsLeft: number) => void = () => undefined,
    private readonly nowMs: () => number = suspensionProofNowMs,
  ) {
    const { tokenUrl, clientId, clientSecret, refreshToken } = options;
    // In the body, because servers differ in how they decode secrets in the Authorization header.
    const authentication = clientSecret === undefined ? oauth.None() : oauth.ClientSecretPost(clientSecret);
    this.config = new oauth.Configuration(
      { issuer: tokenUrl, token_endpoint: tokenUrl },
      clientId,
      undefined,
      authentication,
    );
    this.config.timeout = TIMEOUT_SECONDS;
    this.config[oauth.customFetch] = fetchBounded as oauth.CustomFetch;
    if (tokenUrl.startsWith('http:')) oauth.allowInsecureRequests(this.config);
    this.refreshToken = refreshToken;
  }

  /** @throws Error for operators, without secrets, when there is no valid token and none can be got */
  async get(): Promise<string> {
    const { token } = this;
    if (token !== undefined && this.nowMs() < token.renewAtMs) return token.value;
    try {
      this.request ??= this.requested().finally(() => (this.request = undefined));
      return (await this.request).value;
    } catch (error) {
      const nowMs = this.nowMs();
      if (token === undefined || nowMs >= token.expiresAtMs) throw error;
      // The first of those who waited for the renewal.
      if (nowMs >= token.renewAtMs) {
        token.renewAtMs = nowMs + RETRY_MS;
        this.onRenewalFailed((error as Error).message, Math.ceil((token.expiresAtMs - nowMs) / 1_000));
      }
      return token.value;
    }
  }

  /**
   * Notes that the relay has refused a token.
   *
   * @returns whether it is worth trying another: that one is not new, so it may have been revoked
   */
  refused(value: string): boolean {
    if (this.token?.value !== value) return true;
    if (this.nowMs() - this.token.requestedAtMs < FRESH_MS) return false;
    this.token = undefined;
    return true;
  }

  private async requested(): Promise<Token> {
    const requestedAtMs = this.nowMs();
    try {
      const { access_token, expires_in, refresh_token } = await this.grant();
      if (!TOKEN.test(access_token)) throw new Error('its answer is not an access token');
      const lifetimeMs = (expires_in ?? DEFAULT_LIFETIME_SECONDS) * 1_000;
      // The previous one may be invalid from now on (RFC 6749, section 6).
      if (this.refreshToken !== undefined) this.refreshToken = refresh_token ?? this.refreshToken;
      this.token = {
        value: access_token,
        requestedAtMs,
        expiresAtMs: requestedAtMs + lifetimeMs,
        renewAtMs: requestedAtMs + lifetimeMs * RENEWED_AFTER,
      };
      return this.token;
    } catch (error) {
      throw new Error(this.describe(error));
    }
  }

  private grant(): Promise<oauth.TokenEndpointResponse> {
    const scope = this.options.scope === undefined ? {} : { scope: this.options.scope };
    return this.refreshToken === undefined
      ? oauth.genericGrantRequest(this.config, 'client_credentials', scope)
      : oauth.genericGrantRequest(this.config, 'refresh_token', {
          refresh_token: this.refreshToken,
          ...scope,
        });
  }

  private describe(error: unknown): string {
    const { tokenUrl, clientSecret, refreshToken } = this.options;
    const { host } = new URL(tokenUrl);
    const reason = [clientSecret, refreshToken, this.refreshToken]
      .filter((secret) => secret !== undefined)
      .reduce((text, secret) => text.replaceAll(secret, '***'), reasonOf(error));
    return sanitizeText(`no access token from ${host}: ${reason}`);
  }
}

function reasonOf(error: unknown): string {
  if (error instanceof oauth.ResponseBodyError)
    return [error.error, error.error_description].filter((word) => word !== undefined).join(', ');
  // `fetch` says only that it failed, and the library that something went wrong.
  let cause = error as Error;
  while (isNativeError(cause.cause)) cause = cause.cause;
  return `${describeError(cause)}${cause.cause instanceof Response ? ` ${cause.cause.status}` : ''}`;
}
