import { abbreviated } from './abbreviated.ts';
import { recordVerdict, type RecordVerdict } from './record-verdict.ts';
import type { TxtAnswer } from './txt-answer.ts';
import type { ExpectedRecord } from './expected-records.ts';

/** The result of a check of an expected record, with the records that were found. */
interface RecordFinding extends RecordVerdict {
  /** The TXT records at the name, limited in number and length. */
  readonly found: readonly string[];
}

/** The findings of a check of a domain, by the name of the record. */
export type RecordFindings = Readonly<Record<string, RecordFinding>>;

const MAX_RECORDS = 10;
const MAX_RECORD_CHARACTERS = 1_000;

/** Compares an answer with an expected record. The records are untrusted: they are truncated, and characters that cannot be stored are replaced. */
export function recordFinding(expected: ExpectedRecord, answer: TxtAnswer): RecordFinding {
  const values = answer.kind === 'found' ? answer.values : [];
  return {
    ...recordVerdict(expected, answer),
    found: values.slice(0, MAX_RECORDS).map((value) => abbreviated(value, MAX_RECORD_CHARACTERS)),
  };
}
