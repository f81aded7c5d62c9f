import type { AddressRange } from '@posthorn/domain';
import type { IdentityProvider } from './identity-provider.ts';

/** The proxies whose word about an address counts. */
export class TrustedProxies {
  constructor(readonly ranges: readonly AddressRange[]) {}
}

/** How operators sign in here. */
export class SignInWays {
  constructor(
    readonly byPassword: boolean,
    /** Undefined: there is none. */
    readonly provider: IdentityProvider | undefined,
  ) {}
}
