import type { AddressRange } from '@posthorn/domain';
import { clientAddress, networkOf, type SentBy } from '@posthorn/platform';
import type { IdentityProvider } from './identity-provider.ts';

/** The proxies whose `X-Forwarded-For` is trusted. */
export class TrustedProxies {
  constructor(private readonly ranges: readonly AddressRange[]) {}

  /** The client's network, by which sign-in attempts are limited, and which the audit log records. */
  networkOf(request: SentBy): string {
    return networkOf(clientAddress(request, this.ranges));
  }
}

/** How operators sign in here. */
export class SignInMethods {
  constructor(
    readonly byPassword: boolean,
    /** Undefined: none is configured. */
    readonly provider: IdentityProvider | undefined,
  ) {}
}
