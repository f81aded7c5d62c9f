/** The result of a look-up of TXT records. */
export type TxtAnswer =
  /** The records, each with its strings joined (RFC 1035, section 3.3.14). */
  | { readonly kind: 'found'; readonly values: readonly string[] }
  /** NXDOMAIN, or no record of this type. */
  | { readonly kind: 'absent' }
  /** No usable answer: a time-out, SERVFAIL, a refusal; `reason` is for people. */
  | { readonly kind: 'failed'; readonly reason: string };

/** The first answer that is not `absent`, of the answers for a name and its parents in this order. */
export function nearestAnswer(answers: readonly TxtAnswer[]): TxtAnswer {
  return answers.find(({ kind }) => kind !== 'absent') ?? { kind: 'absent' };
}
