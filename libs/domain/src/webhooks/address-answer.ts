/** The result of a look-up of the IPv4 and IPv6 addresses of a name. */
export type AddressAnswer =
  /** At least one, as a resolver writes it, in no particular order. */
  | { readonly kind: 'found'; readonly addresses: readonly string[] }
  /** NXDOMAIN, or no address. */
  | { readonly kind: 'absent' }
  /** No usable answer; `reason` is for people. */
  | {
      readonly kind: 'failed';
      readonly reason: string;
      /** Whether no name server could be reached, which is not the fault of the receiver. */
      readonly isOurs: boolean;
    };
