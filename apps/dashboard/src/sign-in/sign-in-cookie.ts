import type { Request, Response } from 'express';
import { HostCookie } from './host-cookie.ts';

const WITHIN_MS = 10 * 60_000;
const SECRETS = /^([\w-]{43})\.([\w-]{43})\.([\w-]{43})\.([\w-]*)$/;

/** What a browser has to bring back from the provider to where it set out from. */
export interface SignInSecrets {
  readonly state: string;
  readonly nonce: string;
  /** Of PKCE (RFC 7636). */
  readonly verifier: string;
}

/** The same with the page that somebody wanted before they had to sign in. */
interface BroughtBack extends SignInSecrets {
  readonly to: string;
}

/**
 * What a browser takes along on its way to the provider, for ten minutes: whoever comes back without it did not set out here. Lax, because
 * it comes back by a link of another site.
 */
export class SignInCookie {
  private readonly cookie: HostCookie;

  constructor(isSecure: boolean) {
    this.cookie = new HostCookie({ name: 'posthorn-sign-in', sameSite: 'lax', isSecure });
  }

  read(request: Pick<Request, 'headers'>): BroughtBack | undefined {
    const [, state, nonce, verifier, to = ''] = SECRETS.exec(this.cookie.read(request) ?? '') ?? [];
    return state && nonce && verifier
      ? { state, nonce, verifier, to: Buffer.from(to, 'base64url').toString() }
      : undefined;
  }

  set(response: Response, { state, nonce, verifier, to }: BroughtBack): void {
    this.cookie.set(
      response,
      `${state}.${nonce}.${verifier}.${Buffer.from(to).toString('base64url')}`,
      WITHIN_MS,
    );
  }

  clear(response: Response): void {
    this.cookie.clear(response);
  }
}
