import { recordVerdict, type RecordVerdict } from './record-verdict.ts';
import type { TxtAnswer } from './txt-answer.ts';
import type { WantedRecord } from './wanted-records.ts';

/** What was found of a wanted record, with what was there. */
interface RecordFinding extends RecordVerdict {
  /** The TXT records at the name, bounded in number and length. */
  readonly found: readonly string[];
}

/** What a check of a domain found, by the name of the record. */
export type RecordFindings = Readonly<Record<string, RecordFinding>>;

const MAX_SHOWN = 10;
const MAX_SHOWN_CHARACTERS = 1_000;

/** What the DNS says about a wanted record: what anybody wrote into a zone is bounded, and holds nothing that cannot be kept. */
export function recordFinding(wanted: WantedRecord, answer: TxtAnswer): RecordFinding {
  const values = answer.kind === 'found' ? answer.values : [];
  return {
    ...recordVerdict(wanted, answer),
    found: values.slice(0, MAX_SHOWN).map((value) => shown(value)),
  };
}

function shown(value: string): string {
  const printable = value.slice(0, MAX_SHOWN_CHARACTERS).replaceAll(/[\p{Cc}\p{Cs}]/gu, '\u{fffd}');
  return value.length > MAX_SHOWN_CHARACTERS ? `${printable}…` : printable;
}
