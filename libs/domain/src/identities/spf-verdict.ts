import { abbreviated } from '../abbreviated.ts';
import { found, missing, type RecordVerdict, unanswered, wrong } from './record-state.ts';
import { faultInSpelling } from './record-spelling.ts';
import { faultyTermIn } from './spf-syntax.ts';
import { includeTerm, type SpfReach, spfRecordsIn, spfTerms } from './spf-record.ts';

/** Of a part of a record, in a sentence. */
const MAX_SHOWN = 80;

/**
 * Whether the relay may send, according to the TXT records of a domain.
 *
 * @param include what the record must include; undefined while the operator has not configured it
 * @param reach what receivers come to; undefined: judge by the record alone
 */
export function spfVerdict(
  values: readonly string[],
  include: string | undefined,
  reach: SpfReach | undefined,
): RecordVerdict {
  const [record, ...others] = spfRecordsIn(values);
  if (record === undefined) return withoutRecord(values, include);
  if (others.length > 0) {
    return wrong(
      `There are ${others.length + 1} SPF records, so receivers take none of them; make one of them`,
    );
  }
  const faulty = faultyTermIn(record);
  if (faulty !== undefined) {
    return wrong(
      `The SPF record contains \`${abbreviated(faulty, MAX_SHOWN)}\`, which is no part of such a record, so receivers take all of it for an error; correct it, or remove it`,
    );
  }
  if (include === undefined)
    return found('There is an SPF record; check that it names the servers of your relay');
  return verdictOf(record, include, reach ?? reachOf(record, include));
}

function reachOf(record: string, include: string): SpfReach {
  const isReached = spfTerms(record).read.includes(includeTerm(include));
  return { kind: isReached ? 'reached' : 'unreached' };
}

function verdictOf(record: string, include: string, reach: SpfReach): RecordVerdict {
  switch (reach.kind) {
    case 'reached':
      return found('The relay may send');
    case 'failed':
      return unanswered(reach.reason);
    case 'too_many':
      return wrong(
        `Receivers give up on the SPF record after 10 look-ups; put \`include:${include}\` behind its \`v=spf1\`, and take out what is no longer needed`,
      );
    case 'broken':
      return wrong(
        `The SPF record refers to \`${abbreviated(reach.name, MAX_SHOWN)}\`, which has no SPF record, several or a faulty one, so receivers take this one for an error; take that part out`,
      );
    case 'unreached':
      return wrong(unreachedMessage(record, include));
  }
}

function unreachedMessage(record: string, include: string): string {
  return spfTerms(record).all === 'all'
    ? `The SPF record lets every server send in the name of the domain; put \`include:${include}\` behind its \`v=spf1\`, and make its \`all\` \`~all\``
    : `The SPF record does not let the relay send; put \`include:${include}\` behind its \`v=spf1\``;
}

function withoutRecord(values: readonly string[], include: string | undefined): RecordVerdict {
  const misspelt = values.find((value) => /^["'\s]*(?:v ?= ?)?spf1?\b/i.test(value));
  if (misspelt !== undefined) {
    const fault = faultInSpelling(misspelt) ?? 'does not begin with `v=spf1` and a space';
    return wrong(`Receivers ignore the SPF record, because it ${fault}`);
  }
  return missing(
    include === undefined
      ? 'There is no SPF record; set one that names the servers of your relay, as its operator says'
      : 'There is no SPF record; set one with this value',
  );
}
