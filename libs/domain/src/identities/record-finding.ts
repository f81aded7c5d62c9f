import { abbreviated } from '../abbreviated.ts';
import type { ExpectedRecord } from './expected-records.ts';
import type { RecordVerdict } from './record-state.ts';
import { recordVerdict } from './record-verdict.ts';
import type { SpfReach } from './spf-record.ts';
import type { NamedAnswer } from './txt-answer.ts';

/** The result of a check of an expected record, with the records that were found. */
export interface RecordFinding extends RecordVerdict {
  /** The TXT records at the name, limited in number and length. */
  readonly found: readonly string[];
}

/** The findings of a check of a domain, by the name of the record. */
export type RecordFindings = Readonly<Record<string, RecordFinding>>;

const MAX_RECORDS = 10;
const MAX_RECORD_CHARACTERS = 1_000;

/** Compares an answer with an expected record. The records are untrusted: they are truncated, and characters that cannot be stored are replaced. */
export function recordFinding(
  expected: ExpectedRecord,
  { name, answer }: NamedAnswer,
  reach?: SpfReach,
): RecordFinding {
  const values = answer.kind === 'found' ? answer.values : [];
  return {
    ...recordVerdict(expected, answer, name, reach),
    found: values.slice(0, MAX_RECORDS).map((value) => abbreviated(value, MAX_RECORD_CHARACTERS)),
  };
}
