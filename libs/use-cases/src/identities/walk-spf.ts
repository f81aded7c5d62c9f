import { within } from '@posthorn/kernel';
import {
  faultyTermIn,
  includeTerm,
  type SpfReach,
  spfRecordsIn,
  spfTargetOf,
  spfTerms,
  takesLookUp,
} from '@posthorn/domain';
import type { TxtResolver } from './txt-resolver.ts';

/** The limit of receivers (RFC 7208, section 4.6.4). */
const MAX_LOOK_UPS = 10;
/**
 * How long receivers should allow for an evaluation at least (RFC 7208, section 4.6.4). The look-ups follow one another, and with all of them at their timeout the
 * check of one domain would hold up the regular jobs for minutes.
 */
const MAX_MS = 20_000;
const UNREACHED: SpfReach = { kind: 'unreached' };

/**
 * Evaluates an SPF record as receivers do, until it comes to the `include` of the relay, directly or by way of other records.
 *
 * @param include what the record must include
 */
export async function walkSpf(
  record: string,
  include: string,
  resolver: TxtResolver,
  maxMs = MAX_MS,
): Promise<SpfReach> {
  const wanted = includeTerm(include);
  const deadline = performance.now() + maxMs;
  let lookUps = 0;
  return readRecord(record);

  async function readRecord(text: string): Promise<SpfReach> {
    for (const term of spfTerms(text).read) {
      const reach = takesLookUp(term) ? await readTerm(term) : UNREACHED;
      if (reach.kind !== 'unreached') return reach;
    }
    return UNREACHED;
  }

  async function readTerm(term: string): Promise<SpfReach> {
    lookUps += 1;
    // Ends loops too.
    if (lookUps > MAX_LOOK_UPS) return { kind: 'too_many' };
    if (term === wanted) return { kind: 'reached' };
    const name = spfTargetOf(term);
    return name === undefined ? UNREACHED : readName(name);
  }

  async function readName(name: string): Promise<SpfReach> {
    const answer = await within(resolver.lookUpTxt(name), deadline - performance.now());
    if (answer === undefined)
      return { kind: 'failed', reason: `what the SPF record refers to took longer than ${maxMs} ms` };
    if (answer.kind === 'failed') return answer;
    const [next, ...others] = spfRecordsIn(answer.kind === 'found' ? answer.values : []);
    const isBroken = next === undefined || others.length > 0 || faultyTermIn(next) !== undefined;
    return isBroken ? { kind: 'broken', name } : readRecord(next);
  }
}
