import { DNS_NAME_OCTETS, type ExpectedRecord, parentsOf } from './expected-records.ts';

/** A name at which a record may have been set by mistake. */
export interface Misplacement {
  readonly name: string;
  /** The domain that the DNS provider appends to the names that are entered. */
  readonly zone: string;
}

/** The number of parent domains that are considered as the zone of the provider. */
const MAX_PARENTS = 2;

/**
 * The names at which a record may be that is not at its own: most DNS providers append the domain to what is entered, so a full name ends up
 * with the domain twice, and the name of a subdomain's record without the subdomain; or the name was left out.
 */
export function misplacements(expected: ExpectedRecord, domain: string): Misplacement[] {
  if (expected.value === null || expected.key?.stage === 'PREVIOUS') return [];
  const parents = parentsOf(domain).slice(0, MAX_PARENTS);
  const places = [domain, ...parents].map((zone) => ({ name: `${expected.name}.${zone}`, zone }));
  if (expected.key !== undefined) {
    const selector = expected.name.slice(0, -domain.length);
    places.push(...parents.map((zone) => ({ name: `${selector}${zone}`, zone })));
    places.push({ name: domain, zone: domain });
  }
  return places.filter(({ name }) => name.length <= DNS_NAME_OCTETS);
}

/** What to do about a record that was found at another name. */
export function misplacedMessage(expected: ExpectedRecord, { name, zone }: Misplacement): string {
  const entered = expected.name === zone ? '@' : expected.name.slice(0, -`.${zone}`.length);
  return `The record is at \`${name}\` instead of this name; if your DNS provider appends \`.${zone}\` to what is entered as the name, enter \`${entered}\``;
}
