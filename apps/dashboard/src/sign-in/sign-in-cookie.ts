import type { Request, Response } from 'express';
import { HostCookie } from './host-cookie.ts';

const WITHIN_MS = 10 * 60_000;
const SECRETS = /^([\w-]{43})\.([\w-]{43})\.([\w-]{43})\.([\w-]*)$/;

/** The secrets of one sign-in, which the callback is verified with. */
export interface SignInSecrets {
  readonly state: string;
  readonly nonce: string;
  /** Of PKCE (RFC 7636). */
  readonly verifier: string;
}

/** The same with the page to go to after the sign-in. */
interface StoredSignIn extends SignInSecrets {
  readonly to: string;
}

/**
 * Keeps the secrets of a sign-in in the browser for ten minutes: a callback without them was not begun in it. Lax, since the callback is
 * a navigation from another site.
 */
export class SignInCookie {
  private readonly cookie: HostCookie;

  constructor(isSecure: boolean) {
    this.cookie = new HostCookie({ name: 'posthorn-sign-in', sameSite: 'lax', isSecure });
  }

  read(request: Pick<Request, 'headers'>): StoredSignIn | undefined {
    const [, state, nonce, verifier, to = ''] = SECRETS.exec(this.cookie.read(request) ?? '') ?? [];
    return state && nonce && verifier
      ? { state, nonce, verifier, to: Buffer.from(to, 'base64url').toString() }
      : undefined;
  }

  set(response: Response, { state, nonce, verifier, to }: StoredSignIn): void {
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
