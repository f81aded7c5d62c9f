/** The TXT records that are SPF records; receivers need exactly one (RFC 7208, section 4.5). */
export function spfRecordsIn(values: readonly string[]): string[] {
  return values.filter((value) => /^v=spf1(?: |$)/i.test(value));
}

/** What receivers read of an SPF record, in lower case, without the default qualifier `+` and trailing dots. */
interface SpfTerms {
  /** The terms in the order in which they are evaluated. */
  readonly read: readonly string[];
  /** The term that matches every server and so ends the evaluation; undefined: there is none. */
  readonly all: string | undefined;
}

export function spfTerms(record: string): SpfTerms {
  const terms = record.split(/ +/).map((term) => withoutDot(term.toLowerCase().replace(/^\+/, '')));
  const end = terms.findIndex((term) => /^[-~?]?all$/.test(term));
  // What follows `all` is ignored, and so is `redirect` anywhere beside it (RFC 7208, sections 5.1 and 6.1).
  if (end !== -1) return { read: terms.slice(0, end).filter((term) => !isRedirect(term)), all: terms[end] };
  const others = terms.filter((term) => !isRedirect(term));
  return { read: [...others, ...terms.filter(isRedirect)], all: undefined };
}

/** The term that names the relay, as `spfTerms` gives it. */
export function includeTerm(include: string): string {
  return withoutDot(`include:${include.toLowerCase()}`);
}

function withoutDot(term: string): string {
  return term.replace(/\.$/, '');
}

function isRedirect(term: string): boolean {
  return term.startsWith('redirect=');
}

/** Whether receivers look something up for a term, of which they do no more than ten (RFC 7208, section 4.6.4). */
export function takesLookUp(term: string): boolean {
  return /^(?:[-~?]?(?:include:|exists:|(?:a|mx|ptr)(?:[:/]|$))|redirect=)/.test(term);
}

/** The name of another SPF record that is evaluated for a term; undefined: none, or one that differs between emails (a macro). */
export function spfTargetOf(term: string): string | undefined {
  return /^(?:include:|redirect=)([^%]+)$/.exec(term)?.[1];
}

/** What receivers come to when they evaluate an SPF record, until the `include` of the relay. */
export type SpfReach =
  | { readonly kind: 'reached' | 'unreached' }
  /** They give up, after ten look-ups. */
  | { readonly kind: 'too_many' }
  /** It is an error that the record includes this name, which has no SPF record, several or a faulty one. */
  | { readonly kind: 'broken'; readonly name: string }
  /** No name server gave an answer. */
  | { readonly kind: 'failed'; readonly reason: string };
