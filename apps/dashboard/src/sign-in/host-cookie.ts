import type { Request, Response } from 'express';

interface HostCookieOptions {
  readonly name: string;
  readonly sameSite: 'strict' | 'lax';
  /** Whether the dashboard is reached over TLS. */
  readonly isSecure: boolean;
}

/** A cookie for this host only, which scripts cannot read. */
export class HostCookie {
  readonly name: string;

  constructor(private readonly options: HostCookieOptions) {
    // Browsers accept `__Host-` only over TLS, and only for this host (RFC 6265bis, section 4.1.3.2).
    this.name = options.isSecure ? `__Host-${options.name}` : options.name;
  }

  /** Its value in a request; undefined: absent. */
  read({ headers }: Pick<Request, 'headers'>): string | undefined {
    const pairs = (headers.cookie ?? '').split(';').map((pair) => pair.trim());
    return pairs.find((pair) => pair.startsWith(`${this.name}=`))?.slice(this.name.length + 1);
  }

  set(response: Response, value: string, maxAgeMs: number): void {
    response.cookie(this.name, value, { ...this.attributes, maxAge: maxAgeMs });
  }

  clear(response: Response): void {
    response.clearCookie(this.name, this.attributes);
  }

  private get attributes() {
    const { sameSite, isSecure } = this.options;
    return { httpOnly: true, sameSite, secure: isSecure, path: '/' } as const;
  }
}
