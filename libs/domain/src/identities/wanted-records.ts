import { dkimRecord, type PublishedKey } from './dkim-record.ts';
import type { KeyStage } from './key-stage.ts';

/** A key that a domain is to publish, at `<selector>._domainkey.<domain>`. */
export interface DomainKey extends PublishedKey {
  readonly selector: string;
  readonly stage: KeyStage;
}

/** What every record has. */
interface RecordTraits {
  /** Whether it verifies the domain; the others are recommended. */
  readonly isRequired: boolean;
  /** Where it is to be set. */
  readonly name: string;
  /** Where it counts as well, nearest first, while there is none at `name`. */
  readonly alsoAt: readonly string[];
  /** What to set; null where only the operator of the relay knows. */
  readonly value: string | null;
}

interface WantedDkimRecord extends RecordTraits {
  readonly purpose: 'DKIM_RSA' | 'DKIM_ED25519';
  /** What it must publish. */
  readonly key: DomainKey;
}

interface WantedSpfRecord extends RecordTraits {
  readonly purpose: 'SPF';
  readonly key?: undefined;
  /** What it must include; undefined: the operator has not said. */
  readonly include: string | undefined;
}

interface WantedDmarcRecord extends RecordTraits {
  readonly purpose: 'DMARC';
  readonly key?: undefined;
}

/** A TXT record that a domain that emails are sent from should have. */
export type WantedRecord = WantedDkimRecord | WantedSpfRecord | WantedDmarcRecord;

const PURPOSES = { rsa: 'DKIM_RSA', ed25519: 'DKIM_ED25519' } as const;
const DNS_NAME_OCTETS = 253;
/** DMARC's own bound on how far a receiver walks up. */
const DMARC_LOOKUPS = 5;

/** Of the random part of an id: enough that two identities of one domain do not meet. */
const SELECTOR_CHARACTERS = 10;

/**
 * Where a key is published. It holds something of an id, so that workspaces that share a domain, identities that are made anew, and keys
 * that follow each other do not get in each other's way.
 *
 * @param id of the identity for its first keys, one of their own for each pair that follows
 */
export function dkimSelector(id: string, algorithm: PublishedKey['algorithm']): string {
  return `ph-${id.slice(-SELECTOR_CHARACTERS)}-${algorithm}`;
}

/** Whether the names of all records fit into the DNS (RFC 1035, section 2.3.4). */
export function leavesRoomForRecords(domain: string): boolean {
  const longest = dkimName(dkimSelector('x'.repeat(SELECTOR_CHARACTERS), 'ed25519'), domain);
  return longest.length <= DNS_NAME_OCTETS;
}

/**
 * The records that a domain should have: a DKIM record for each key, SPF and DMARC. The RSA key is what verifies the domain: only
 * who holds the domain can publish it, and it is the one that every receiver can check.
 *
 * @param spfInclude what the SPF record must include so that the relay may send; undefined: the operator has not said
 */
export function wantedRecords(
  domain: string,
  keys: readonly DomainKey[],
  spfInclude: string | undefined,
): WantedRecord[] {
  return [...keys.map((key) => dkim(domain, key)), spf(domain, spfInclude), dmarc(domain)];
}

function dkim(domain: string, key: DomainKey): WantedDkimRecord {
  return {
    purpose: PURPOSES[key.algorithm],
    isRequired: key.algorithm === 'rsa' && key.stage === 'CURRENT',
    name: dkimName(key.selector, domain),
    alsoAt: [],
    value: dkimRecord(key),
    key,
  };
}

/** The return path of an email is its sender's address, so SPF is looked for at the domain itself (RFC 7208, section 2.4). */
function spf(domain: string, include: string | undefined): WantedSpfRecord {
  const value = include === undefined ? null : `v=spf1 include:${include} ~all`;
  return { purpose: 'SPF', isRequired: false, name: domain, alsoAt: [], value, include };
}

function dmarc(domain: string): WantedDmarcRecord {
  const [own, ...above] = [domain, ...parentsOf(domain)].map((name) => `_dmarc.${name}`);
  return {
    purpose: 'DMARC',
    isRequired: false,
    name: own!,
    alsoAt: above.slice(0, DMARC_LOOKUPS - 1),
    value: 'v=DMARC1; p=none',
  };
}

/** The domains above it that are more than one label, nearest first. */
function parentsOf(domain: string): string[] {
  const labels = domain.split('.');
  return labels.slice(1, -1).map((_label, index) => labels.slice(index + 1).join('.'));
}

function dkimName(selector: string, domain: string): string {
  return `${selector}._domainkey.${domain}`;
}
