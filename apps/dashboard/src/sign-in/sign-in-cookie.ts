import type { Request, Response } from 'express';

const SECURE_NAME = '__Host-posthorn-sign-in';
const PLAIN_NAME = 'posthorn-sign-in';
const WITHIN_MS = 10 * 60_000;
const SECRETS = /^([\w-]{43})\.([\w-]{43})\.([\w-]{43})$/;

/** What a browser has to bring back from the provider to where it set out from. */
export interface SignInSecrets {
  readonly state: string;
  readonly nonce: string;
  /** Of PKCE (RFC 7636). */
  readonly verifier: string;
}

/**
 * What a browser takes along on its way to the provider, for ten minutes: whoever comes back without it did not set out here. Lax, because
 * it comes back by a link of another site.
 */
export class SignInCookie {
  private readonly name: string;

  constructor(private readonly isSecure: boolean) {
    this.name = isSecure ? SECURE_NAME : PLAIN_NAME;
  }

  read({ headers }: Pick<Request, 'headers'>): SignInSecrets | undefined {
    const pairs = (headers.cookie ?? '').split(';').map((pair) => pair.trim());
    const value = pairs.find((pair) => pair.startsWith(`${this.name}=`))?.slice(this.name.length + 1);
    const [, state, nonce, verifier] = SECRETS.exec(value ?? '') ?? [];
    return state && nonce && verifier ? { state, nonce, verifier } : undefined;
  }

  set(response: Response, { state, nonce, verifier }: SignInSecrets): void {
    response.cookie(this.name, `${state}.${nonce}.${verifier}`, { ...this.attributes, maxAge: WITHIN_MS });
  }

  clear(response: Response): void {
    response.clearCookie(this.name, this.attributes);
  }

  private get attributes() {
    return { httpOnly: true, sameSite: 'lax', secure: this.isSecure, path: '/' } as const;
  }
}
