import { isDmarc } from './dmarc-verdict.ts';

/** The result of a look-up of TXT records. */
export type TxtAnswer =
  /** The records, each with its strings joined (RFC 1035, section 3.3.14). */
  | { readonly kind: 'found'; readonly values: readonly string[] }
  /** NXDOMAIN, or no record of this type. */
  | { readonly kind: 'absent' }
  /** No usable answer: a time-out, SERVFAIL, a refusal; `reason` is for people. */
  | { readonly kind: 'failed'; readonly reason: string };

/** An answer, and the name that it is for. */
export interface NamedAnswer {
  readonly name: string;
  readonly answer: TxtAnswer;
}

/**
 * The answer that counts, of those for the name of a record and its fallback names in this order: the first with a DMARC record, because
 * receivers ignore other records at such a name; a failure before that, because there may be one; else that for the name itself.
 */
export function nearestAnswer(answers: readonly [NamedAnswer, ...NamedAnswer[]]): NamedAnswer {
  return answers.find(({ answer }) => answer.kind === 'failed' || hasDmarc(answer)) ?? answers[0];
}

function hasDmarc(answer: TxtAnswer): boolean {
  return answer.kind === 'found' && answer.values.some(isDmarc);
}
