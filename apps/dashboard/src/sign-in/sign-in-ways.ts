import type { AddressRange } from '@posthorn/domain';
import { clientAddress, networkOf, type SentBy } from '@posthorn/platform';
import type { IdentityProvider } from './identity-provider.ts';

/** The proxies whose word about an address counts. */
export class TrustedProxies {
  constructor(private readonly ranges: readonly AddressRange[]) {}

  /** Where somebody comes from, as tries to sign in are counted, and as the audit log has it. */
  networkOf(request: SentBy): string {
    return networkOf(clientAddress(request, this.ranges));
  }
}

/** How operators sign in here. */
export class SignInWays {
  constructor(
    readonly byPassword: boolean,
    /** Undefined: there is none. */
    readonly provider: IdentityProvider | undefined,
  ) {}
}
