import { found, missing, type RecordVerdict, wrong } from './record-state.ts';
import { faultInSpelling } from './record-spelling.ts';

const POLICIES: readonly string[] = ['none', 'quarantine', 'reject'];

/** Whether a TXT record is one of DMARC; receivers ignore all others at its name (RFC 7489, section 6.6.3). */
export function isDmarc(value: string): boolean {
  return /^v\s*=\s*DMARC1\s*(?:;|$)/.test(value);
}

/** @param inheritedFrom the parent domain whose records they are; undefined: the domain's own */
export function dmarcVerdict(values: readonly string[], inheritedFrom: string | undefined): RecordVerdict {
  const records = values.filter(isDmarc);
  if (records.length === 0) return withoutRecord(values);
  if (records.length > 1) {
    return wrong(`There are ${records.length} DMARC records, so receivers take none of them; keep one`);
  }
  const policy = policyOf(records[0]!, inheritedFrom !== undefined);
  if (policy === undefined)
    return wrong('The DMARC record has no policy; set `p` to `none`, `quarantine` or `reject`');
  return found(
    inheritedFrom === undefined
      ? `There is a DMARC record with the policy \`${policy}\``
      : `The DMARC record of \`${inheritedFrom}\` applies, with the policy \`${policy}\``,
  );
}

function withoutRecord(values: readonly string[]): RecordVerdict {
  const misspelt = values.find((value) =>
    /dmarc1?\b|^["'\s]*p ?= ?(?:none|quarantine|reject)\b/i.test(value),
  );
  if (misspelt === undefined) {
    return missing(
      'There is no DMARC record; set one with this value, and make it stricter when all is well',
    );
  }
  const fault = faultInSpelling(misspelt) ?? 'does not begin with `v=DMARC1;`';
  return wrong(`Receivers ignore the DMARC record, because it ${fault}`);
}

/** The policy for the domain itself, or for its subdomains, which may be another one (`sp`). */
function policyOf(record: string, isInherited: boolean): string | undefined {
  const tag = (name: string): string | undefined =>
    new RegExp(`;\\s*${name}\\s*=\\s*(\\w+)`, 'i').exec(record)?.[1]?.toLowerCase();
  const policy = tag('p');
  if (policy === undefined || !POLICIES.includes(policy)) return undefined;
  const below = tag('sp');
  return isInherited && below !== undefined && POLICIES.includes(below) ? below : policy;
}
