/** The states of a DNS record, with their meanings. */
export const RECORD_STATES = {
  UNCHECKED: 'has not been looked for yet',
  FOUND: 'is there and right',
  MISSING: 'is not there: the DNS says so',
  WRONG: 'is there, and not as it should be',
  UNANSWERED: 'could not be looked up: no name server answered, or none could say',
} as const;

export type RecordState = keyof typeof RECORD_STATES;

/** The result of a check of an expected record. */
export interface RecordVerdict {
  readonly state: Exclude<RecordState, 'UNCHECKED'>;
  /** One sentence: what was found, and how to fix it. */
  readonly message: string;
}

export const found = (message: string): RecordVerdict => ({ state: 'FOUND', message });
export const missing = (message: string): RecordVerdict => ({ state: 'MISSING', message });
export const wrong = (message: string): RecordVerdict => ({ state: 'WRONG', message });

/** Resolvers answer SERVFAIL for a domain whose name servers do not know it, and for one whose DNSSEC signatures are wrong. */
export function unanswered(reason: string): RecordVerdict {
  const message = `The look-up failed: ${reason}; it is tried again, and if that goes on, check the name servers of the domain and its DNSSEC`;
  return { state: 'UNANSWERED', message };
}
