/** What the DNS says about the IP addresses at a name, of both families. */
export type AddressAnswer =
  /** At least one, as a resolver writes it, in no order. */
  | { readonly kind: 'found'; readonly addresses: readonly string[] }
  /** A definite no: there is no such name, or no address at it. */
  | { readonly kind: 'absent' }
  /** No answer that says anything about the name; `reason` is for people. */
  | {
      readonly kind: 'failed';
      readonly reason: string;
      /** Whether no name server could be asked at all, which says nothing about whose name it is. */
      readonly isOurs: boolean;
    };
