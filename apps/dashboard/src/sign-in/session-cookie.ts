import type { Request, Response } from 'express';
import { HostCookie } from './host-cookie.ts';

const TOKEN = /^[\w-]{43}$/;

/** The cookie that a session is known by: no script reads it, and no other site's page sends it. */
export class SessionCookie {
  private readonly cookie: HostCookie;

  constructor(isSecure: boolean) {
    this.cookie = new HostCookie({ name: 'posthorn-session', sameSite: 'strict', isSecure });
  }

  /** What a 401 says of how to authenticate (RFC 9110, section 11.6.1). No scheme of that name is registered, so browsers pass it over and show the page. */
  get challenge(): string {
    return `Cookie realm="Posthorn dashboard", cookie-name="${this.cookie.name}"`;
  }

  /** The token of a request; undefined: it carries none that could be one. */
  read(request: Pick<Request, 'headers'>): string | undefined {
    const token = this.cookie.read(request);
    return token !== undefined && TOKEN.test(token) ? token : undefined;
  }

  set(response: Response, token: string, maxAgeMs: number): void {
    this.cookie.set(response, token, maxAgeMs);
  }

  clear(response: Response): void {
    this.cookie.clear(response);
  }
}
