import { faultInDkimRecord, isTesting, type PublishedKey } from './dkim-record.ts';
import type { TxtAnswer } from './txt-answer.ts';
import type { ExpectedRecord } from './expected-records.ts';

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

/** Compares what the DNS says with what is expected. */
export function recordVerdict(expected: ExpectedRecord, answer: TxtAnswer): RecordVerdict {
  if (answer.kind === 'failed') {
    return { state: 'UNANSWERED', message: `The look-up failed: ${answer.reason}; it is tried again` };
  }
  const values = answer.kind === 'found' ? answer.values : [];
  switch (expected.purpose) {
    case 'DKIM_RSA':
    case 'DKIM_ED25519':
      return dkimVerdict(values, expected.key);
    case 'SPF':
      return spfVerdict(values, expected.include);
    case 'DMARC':
      return dmarcVerdict(values);
  }
}

const found = (message: string): RecordVerdict => ({ state: 'FOUND', message });
const missing = (message: string): RecordVerdict => ({ state: 'MISSING', message });
const wrong = (message: string): RecordVerdict => ({ state: 'WRONG', message });

function dkimVerdict(values: readonly string[], key: PublishedKey): RecordVerdict {
  if (values.length === 0) return missing('There is no TXT record at this name; set one with this value');
  const right = values.find((value) => faultInDkimRecord(value, key) === undefined);
  if (right === undefined) return wrong(`${faultOfRecords(values, key)}; set it to this value`);
  if (values.length > 1) {
    // RFC 6376, section 3.6.2.2: the results are undefined.
    return found(
      'The key is published, but there are other TXT records at this name, and receivers may read one of those; take them out',
    );
  }
  return found(
    isTesting(right)
      ? 'The key is published, but for tests only (`t=y`): receivers take the emails for unsigned; take `t` out'
      : 'The key is published',
  );
}

/** The fault of the first record that looks like a DKIM key; else of the first one. */
function faultOfRecords(values: readonly string[], key: PublishedKey): string {
  const intended = values.filter((value) => /(?:^|;)\s*[vkp]\s*=/i.test(value));
  const [first] = intended.length > 0 ? intended : values;
  return `The record ${faultInDkimRecord(first!, key)}`;
}

function spfVerdict(values: readonly string[], include: string | undefined): RecordVerdict {
  const records = values.filter((value) => /^v=spf1(?: |$)/i.test(value));
  if (records.length === 0) {
    return missing(
      include === undefined
        ? 'There is no SPF record; set one that names the servers of your relay, as its operator says'
        : 'There is no SPF record; set one with this value',
    );
  }
  if (records.length > 1) {
    return wrong(`There are ${records.length} SPF records, so receivers take none of them; make one of them`);
  }
  if (include === undefined)
    return found('There is an SPF record; check that it names the servers of your relay');
  if (termsOf(records[0]!).includes(`include:${include.toLowerCase()}`)) return found('The relay may send');
  return wrong(`The SPF record does not let the relay send; put \`include:${include}\` before its last part`);
}

/** The terms of an SPF record in lower case, without the default qualifier `+` and a trailing dot. */
function termsOf(record: string): string[] {
  return record.split(/ +/).map((term) => term.toLowerCase().replace(/^\+|\.$/g, ''));
}

function dmarcVerdict(values: readonly string[]): RecordVerdict {
  const records = values.filter((value) => /^v\s*=\s*DMARC1\s*(?:;|$)/.test(value));
  if (records.length === 0) {
    return missing(
      'There is no DMARC record; set one with this value, and make it stricter when all is well',
    );
  }
  if (records.length > 1) {
    return wrong(`There are ${records.length} DMARC records, so receivers take none of them; keep one`);
  }
  const policy = /;\s*p\s*=\s*(\w+)/i.exec(records[0]!)?.[1]?.toLowerCase();
  if (policy === 'none' || policy === 'quarantine' || policy === 'reject') {
    return found(`There is a DMARC record with the policy \`${policy}\``);
  }
  return wrong('The DMARC record has no policy; set `p` to `none`, `quarantine` or `reject`');
}
