import { faultInDkimRecord, isMeantAsDkim, isTesting, type PublishedKey } from './dkim-record.ts';
import { dmarcVerdict } from './dmarc-verdict.ts';
import type { ExpectedRecord } from './expected-records.ts';
import { found, missing, type RecordVerdict, unanswered, wrong } from './record-state.ts';
import type { SpfReach } from './spf-record.ts';
import { spfVerdict } from './spf-verdict.ts';
import type { TxtAnswer } from './txt-answer.ts';

/**
 * Compares what the DNS says with what is expected.
 *
 * @param at the name that the answer is for: that of the record, or one of its fallback names
 * @param reach what receivers come to when they evaluate an SPF record; undefined: it was not evaluated
 */
export function recordVerdict(
  expected: ExpectedRecord,
  answer: TxtAnswer,
  at: string = expected.name,
  reach?: SpfReach,
): RecordVerdict {
  if (answer.kind === 'failed') return unanswered(answer.reason);
  const values = answer.kind === 'found' ? answer.values : [];
  switch (expected.purpose) {
    case 'DKIM_RSA':
    case 'DKIM_ED25519':
      return dkimVerdict(values, expected.key);
    case 'SPF':
      return spfVerdict(values, expected.include, reach);
    case 'DMARC':
      return dmarcVerdict(values, at === expected.name ? undefined : at.slice('_dmarc.'.length));
  }
}

function dkimVerdict(values: readonly string[], key: PublishedKey): RecordVerdict {
  if (values.length === 0) {
    // Resolvers remember a negative answer for as long as the SOA record of the zone says (RFC 2308, section 5).
    return missing(
      'There is no TXT record at this name; set one with this value, after which name servers may still say for an hour or more that there is none',
    );
  }
  const right = values.find((value) => faultInDkimRecord(value, key) === undefined);
  if (right === undefined) return wrong(faultOfRecords(values, key));
  if (values.length > 1) {
    // RFC 6376, section 3.6.2.2: the results are undefined.
    return found(
      'The key is published, but there are other TXT records at this name, and receivers may read one of those; take them out',
    );
  }
  return found(
    isTesting(right)
      ? 'The key is published, but for tests only (`t=y`): receivers take the emails for unsigned; remove `t`'
      : 'The key is published',
  );
}

/** The fault of the first record that is meant as a DKIM key. */
function faultOfRecords(values: readonly string[], key: PublishedKey): string {
  const intended = values.find(isMeantAsDkim);
  return intended === undefined
    ? 'What is at this name is no DKIM key, and may come from a wildcard record of the domain; set a TXT record with this value at this very name'
    : `The record ${faultInDkimRecord(intended, key)}; set it to this value`;
}
