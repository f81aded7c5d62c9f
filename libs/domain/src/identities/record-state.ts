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
