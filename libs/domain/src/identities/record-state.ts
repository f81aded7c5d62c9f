/** The states of a DNS record, with their meanings. */
export const RECORD_STATES = {
  UNCHECKED: 'not looked up yet',
  FOUND: 'it exists and is right',
  MISSING: 'it does not exist in the DNS',
  WRONG: 'it exists, but with another value',
  UNANSWERED: 'no name server gave an answer',
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
