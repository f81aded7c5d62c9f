import { describe, expect, it } from '@jest/globals';
import { type DomainKey, type ExpectedRecord, expectedRecords } from './expected-records.ts';
import { misplacedMessage, misplacements } from './misplaced-record.ts';

const KEY: DomainKey = { algorithm: 'ed25519', publicKey: 'A', selector: 's', stage: 'CURRENT' };

function wanted(purpose: ExpectedRecord['purpose'], domain: string, key = KEY): ExpectedRecord {
  return expectedRecords(domain, [key], '_spf.relay.example').find((record) => record.purpose === purpose)!;
}
const namesOf = (purpose: ExpectedRecord['purpose'], domain: string): string[] =>
  misplacements(wanted(purpose, domain), domain).map(({ name }) => name);

describe('The names at which a record may be by mistake', () => {
  it('contain the domain twice, or nothing but the domain', () => {
    expect(namesOf('DKIM_ED25519', 'example.com')).toEqual([
      's._domainkey.example.com.example.com',
      'example.com',
    ]);
    expect(namesOf('SPF', 'example.com')).toEqual(['example.com.example.com']);
    expect(namesOf('DMARC', 'example.com')).toEqual(['_dmarc.example.com.example.com']);
  });

  it('are those of parent domains too, for the key of a subdomain', () => {
    expect(namesOf('DKIM_ED25519', 'mail.example.com')).toEqual([
      's._domainkey.mail.example.com.mail.example.com',
      's._domainkey.mail.example.com.example.com',
      's._domainkey.example.com',
      'mail.example.com',
    ]);
    expect(namesOf('DMARC', 'mail.example.com')).toEqual([
      '_dmarc.mail.example.com.mail.example.com',
      '_dmarc.mail.example.com.example.com',
    ]);
  });

  it('are few, and no longer than names can be', () => {
    expect(namesOf('DKIM_ED25519', 'a.b.c.d.e.example.com')).toHaveLength(6);
    expect(namesOf('SPF', `${'a.'.repeat(70)}example.com`)).toEqual([]);
  });

  it('are none for a record that is no longer needed, or that has no value', () => {
    const previous = wanted('DKIM_ED25519', 'example.com', { ...KEY, stage: 'PREVIOUS' });
    const [spf] = expectedRecords('example.com', [], undefined);
    expect([previous, spf!].map((record) => misplacements(record, 'example.com'))).toEqual([[], []]);
  });
});

it.each([
  ['DKIM_ED25519', 's._domainkey.mail.example.com.example.com', 's._domainkey.mail'],
  ['DKIM_ED25519', 's._domainkey.example.com', 's._domainkey.mail'],
  ['DMARC', '_dmarc.mail.example.com.mail.example.com', '_dmarc'],
  ['SPF', 'mail.example.com.mail.example.com', '@'],
] as const)('Of a %s record at %s, it is said to enter %s', (purpose, name, entered) => {
  const record = wanted(purpose, 'mail.example.com');
  const place = misplacements(record, 'mail.example.com').find((each) => each.name === name)!;
  expect(misplacedMessage(record, place)).toBe(
    `The record is at \`${name}\` instead of this name; if your DNS provider appends \`.${place.zone}\` to what is entered as the name, enter \`${entered}\``,
  );
});
