/** What the DNS says about the TXT records at a name. */
export type TxtAnswer =
  /** The records, each with its strings joined (RFC 1035, section 3.3.14). */
  | { readonly kind: 'found'; readonly values: readonly string[] }
  /** A definite no: there is no such name, or nothing of this type at it. */
  | { readonly kind: 'absent' }
  /** No answer that says anything about the records: a time-out, SERVFAIL, a refusal; `reason` is for people. */
  | { readonly kind: 'failed'; readonly reason: string };

/** The answer that counts of those at a name and the names above it, nearest first: the first that is not a definite no. */
export function nearestAnswer(answers: readonly TxtAnswer[]): TxtAnswer {
  return answers.find(({ kind }) => kind !== 'absent') ?? { kind: 'absent' };
}
