import { dkimRecord, type PublishedKey } from './dkim-record.ts';
import type { KeyStage } from './key-stage.ts';

/** A key that a domain should publish, at `<selector>._domainkey.<domain>`. */
export interface DomainKey extends PublishedKey {
  readonly selector: string;
  readonly stage: KeyStage;
}

/** Fields of every expected record. */
interface CommonRecord {
  /** Whether it is needed to verify the domain; the others are recommended. */
  readonly isRequired: boolean;
  /** The name to set it at. */
  readonly name: string;
  /** Names where it is looked up if there is none at `name`, in this order: receivers look for a DMARC record there too. */
  readonly fallbackNames: readonly string[];
  /** The value to set; null: only the operator of the relay knows it. */
  readonly value: string | null;
}

interface ExpectedDkimRecord extends CommonRecord {
  readonly purpose: 'DKIM_RSA' | 'DKIM_ED25519';
  /** What it must publish. */
  readonly key: DomainKey;
}

interface ExpectedSpfRecord extends CommonRecord {
  readonly purpose: 'SPF';
  readonly key?: undefined;
  /** The domain that it must include; undefined: not configured. */
  readonly include: string | undefined;
}

interface ExpectedDmarcRecord extends CommonRecord {
  readonly purpose: 'DMARC';
  readonly key?: undefined;
}

/** A TXT record that a sending domain should have. */
export type ExpectedRecord = ExpectedDkimRecord | ExpectedSpfRecord | ExpectedDmarcRecord;

const PURPOSES = { rsa: 'DKIM_RSA', ed25519: 'DKIM_ED25519' } as const;
/** The limit of the DNS on a name (RFC 1035, section 2.3.4). */
export const DNS_NAME_OCTETS = 253;
/** DMARC's limit on the look-ups of a receiver. */
const DMARC_LOOKUPS = 5;

/** The number of characters of the random part of an id: enough to make collisions within a domain improbable. */
const SELECTOR_CHARACTERS = 10;

/**
 * The selector of a key. It contains part of an id, so that the keys of workspaces that share a domain, of recreated identities, and of
 * successive rotations do not collide.
 *
 * @param id of the identity for its first pair of keys, a new one for each later pair
 */
export function dkimSelector(id: string, algorithm: PublishedKey['algorithm']): string {
  return `ph-${id.slice(-SELECTOR_CHARACTERS)}-${algorithm}`;
}

/** Whether the names of all records of a domain are within the limit of the DNS (RFC 1035, section 2.3.4). */
export function recordNamesFit(domain: string): boolean {
  const longest = dkimName(dkimSelector('x'.repeat(SELECTOR_CHARACTERS), 'ed25519'), domain);
  return longest.length <= DNS_NAME_OCTETS;
}

/**
 * The records that a domain should have: a DKIM record for each key, SPF and DMARC. The RSA key verifies the domain: only its owner
 * can publish it, and every receiver can check it.
 *
 * @param spfInclude the domain that the SPF record must include so that the relay may send; undefined: not configured
 */
export function expectedRecords(
  domain: string,
  keys: readonly DomainKey[],
  spfInclude: string | undefined,
): ExpectedRecord[] {
  return [...keys.map((key) => dkim(domain, key)), spf(domain, spfInclude), dmarc(domain)];
}

function dkim(domain: string, key: DomainKey): ExpectedDkimRecord {
  return {
    purpose: PURPOSES[key.algorithm],
    isRequired: key.algorithm === 'rsa' && key.stage === 'CURRENT',
    name: dkimName(key.selector, domain),
    fallbackNames: [],
    value: dkimRecord(key),
    key,
  };
}

/** The record of the domain itself: without `BOUNCE_DOMAIN`, the return path of an email is its sender's address (RFC 7208, section 2.4). */
function spf(domain: string, include: string | undefined): ExpectedSpfRecord {
  const value = include === undefined ? null : `v=spf1 include:${include} ~all`;
  return { purpose: 'SPF', isRequired: false, name: domain, fallbackNames: [], value, include };
}

function dmarc(domain: string): ExpectedDmarcRecord {
  const [own, ...above] = [domain, ...parentsOf(domain)].map((name) => `_dmarc.${name}`);
  return {
    purpose: 'DMARC',
    isRequired: false,
    name: own!,
    fallbackNames: above.slice(0, DMARC_LOOKUPS - 1),
    value: 'v=DMARC1; p=none',
  };
}

/** The parent domains with more than one label, nearest first. */
export function parentsOf(domain: string): string[] {
  const labels = domain.split('.');
  return labels.slice(1, -1).map((_label, index) => labels.slice(index + 1).join('.'));
}

function dkimName(selector: string, domain: string): string {
  return `${selector}._domainkey.${domain}`;
}
