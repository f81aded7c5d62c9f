import type { Request, Response } from 'express';

/** `__Host-`: browsers take it over TLS alone, for this host alone (RFC 6265bis, section 4.1.3.2). */
const SECURE_NAME = '__Host-posthorn-session';
const PLAIN_NAME = 'posthorn-session';
const TOKEN = /^[\w-]{43}$/;

/** The cookie that a session is known by: no script reads it, and no other site's page sends it. */
export class SessionCookie {
  private readonly name: string;

  constructor(private readonly isSecure: boolean) {
    this.name = isSecure ? SECURE_NAME : PLAIN_NAME;
  }

  /** What a 401 says of how to authenticate (RFC 9110, section 11.6.1). No scheme of that name is registered, so browsers pass it over and show the page. */
  get challenge(): string {
    return `Cookie realm="Posthorn dashboard", cookie-name="${this.name}"`;
  }

  /** The token of a request; undefined: it carries none that could be one. */
  read({ headers }: Pick<Request, 'headers'>): string | undefined {
    const pairs = (headers.cookie ?? '').split(';').map((pair) => pair.trim());
    const token = pairs.find((pair) => pair.startsWith(`${this.name}=`))?.slice(this.name.length + 1);
    return token !== undefined && TOKEN.test(token) ? token : undefined;
  }

  set(response: Response, token: string, maxAgeMs: number): void {
    response.cookie(this.name, token, { ...this.attributes, maxAge: maxAgeMs });
  }

  clear(response: Response): void {
    response.clearCookie(this.name, this.attributes);
  }

  private get attributes() {
    return { httpOnly: true, sameSite: 'strict', secure: this.isSecure, path: '/' } as const;
  }
}
