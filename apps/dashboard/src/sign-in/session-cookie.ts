import type { Request } from 'express';
import { HostCookie } from './host-cookie.ts';

const TOKEN = /^[\w-]{43}$/;

/** The cookie that a session is known by: no script reads it, and no other site's page sends it. */
export class SessionCookie extends HostCookie {
  constructor(isSecure: boolean) {
    super({ name: 'posthorn-session', sameSite: 'strict', isSecure });
  }

  /** What a 401 says of how to authenticate (RFC 9110, section 11.6.1). No scheme of that name is registered, so browsers pass it over and show the page. */
  get challenge(): string {
    return `Cookie realm="Posthorn dashboard", cookie-name="${this.name}"`;
  }

  /** The token of a request; undefined: it carries none that could be one. */
  override read(request: Pick<Request, 'headers'>): string | undefined {
    const token = super.read(request);
    return token !== undefined && TOKEN.test(token) ? token : undefined;
  }
}
