import type { Request } from 'express';
import { HostCookie } from './host-cookie.ts';

const TOKEN = /^[\w-]{43}$/;

/** The session cookie: scripts cannot read it, and pages of other sites do not send it. */
export class SessionCookie extends HostCookie {
  constructor(isSecure: boolean) {
    super({ name: 'posthorn-session', sameSite: 'strict', isSecure });
  }

  /** The challenge of a 401 (RFC 9110, section 11.6.1). The scheme is not registered, so browsers ignore it and show the page. */
  get challenge(): string {
    return `Cookie realm="Posthorn dashboard", cookie-name="${this.name}"`;
  }

  /** The token of a request; undefined: absent or malformed. */
  override read(request: Pick<Request, 'headers'>): string | undefined {
    const token = super.read(request);
    return token !== undefined && TOKEN.test(token) ? token : undefined;
  }
}
