import { describe, expect, it } from '@jest/globals';
import { recordVerdict } from './record-verdict.ts';
import type { TxtAnswer } from './txt-answer.ts';
import {
  dkimSelector,
  type DomainKey,
  recordNamesFit,
  type ExpectedRecord,
  expectedRecords,
} from './expected-records.ts';

const IDENTITY = 'idn_01h2xcejqtf2nbrexx3vqjhp41';
const KEYS: DomainKey[] = [
  { algorithm: 'rsa', publicKey: 'A'.repeat(392), selector: dkimSelector(IDENTITY, 'rsa'), stage: 'CURRENT' },
  {
    algorithm: 'ed25519',
    publicKey: '11qYAYKxCrfVS/7TyWQHOg7hcvPapiMlrwIaaPcHURo=',
    selector: dkimSelector(IDENTITY, 'ed25519'),
    stage: 'CURRENT',
  },
];
const found = (...values: string[]): TxtAnswer => ({ kind: 'found', values });
const ABSENT: TxtAnswer = { kind: 'absent' };

function wanted(purpose: ExpectedRecord['purpose'], spfInclude?: string): ExpectedRecord {
  return expectedRecords('mail.example.com', KEYS, spfInclude).find((record) => record.purpose === purpose)!;
}

describe('The records that a domain should have', () => {
  it('are both keys, SPF and DMARC; the RSA key alone verifies', () => {
    const records = expectedRecords('mail.example.com', KEYS, '_spf.relay.example');
    expect(
      records.map(({ purpose, isRequired, name, value }) => ({ purpose, isRequired, name, value })),
    ).toEqual([
      {
        purpose: 'DKIM_RSA',
        isRequired: true,
        name: `ph-${IDENTITY.slice(-10)}-rsa._domainkey.mail.example.com`,
        value: `v=DKIM1; k=rsa; p=${'A'.repeat(392)}`,
      },
      {
        purpose: 'DKIM_ED25519',
        isRequired: false,
        name: `ph-${IDENTITY.slice(-10)}-ed25519._domainkey.mail.example.com`,
        value: 'v=DKIM1; k=ed25519; p=11qYAYKxCrfVS/7TyWQHOg7hcvPapiMlrwIaaPcHURo=',
      },
      {
        purpose: 'SPF',
        isRequired: false,
        name: 'mail.example.com',
        value: 'v=spf1 include:_spf.relay.example ~all',
      },
      { purpose: 'DMARC', isRequired: false, name: '_dmarc.mail.example.com', value: 'v=DMARC1; p=none' },
    ]);
  });

  it('have no value for SPF while the operator has not configured one', () => {
    expect(wanted('SPF')).toMatchObject({ value: null });
  });

  it('accept a DMARC record of a parent domain, as receivers do, but not of a top-level domain', () => {
    expect(wanted('DMARC').fallbackNames).toEqual(['_dmarc.example.com']);
    expect(expectedRecords('example.com', [], undefined).at(-1)!.fallbackNames).toEqual([]);
    expect(expectedRecords('a.b.c.d.e.f.example.com', [], undefined).at(-1)!.fallbackNames).toHaveLength(4);
  });

  it('have selectors that differ between identities and fit into a name', () => {
    expect(dkimSelector(IDENTITY, 'rsa')).not.toBe(dkimSelector('idn_01h2xcejqtf2nbrexx3vqjhp42', 'rsa'));
    expect(dkimSelector(IDENTITY, 'ed25519')).toMatch(/^ph-[0-9a-z]{10}-ed25519$/);
    expect(recordNamesFit('x'.repeat(219))).toBe(true);
    expect(recordNamesFit('x'.repeat(222))).toBe(false);
  });
});

describe('A DKIM record', () => {
  const ed = wanted('DKIM_ED25519');

  it.each([
    ['is there', found(ed.value!), 'FOUND', 'The key is published'],
    ['is there beside others', found('something else', ed.value!), 'FOUND', 'there are other TXT records'],
    ['is there for tests', found(`${ed.value}; t=y`), 'FOUND', 'for tests only'],
    ['is not there', ABSENT, 'MISSING', 'set one with this value'],
    ['is another one', found('v=DKIM1; k=ed25519; p=AAAA'), 'WRONG', 'The record publishes another key'],
    ['is wrong beside others', found('hello', 'v=DKIM1; k=ed25519; p='), 'WRONG', 'is revoked'],
    ['is something else', found('hello', 'v=spf1 -all'), 'WRONG', 'may come from a wildcard record'],
    [
      'gets no answer',
      { kind: 'failed', reason: 'no name server answered within 5000 ms' },
      'UNANSWERED',
      'no name server answered within 5000 ms; it is tried again, and if that goes on, check the name servers',
    ],
  ] as const)('%s', (_case, answer, state, message) => {
    expect(recordVerdict(ed, answer)).toEqual({ state, message: expect.stringContaining(message) });
  });
});

describe('An SPF record', () => {
  const named = wanted('SPF', '_spf.relay.example');

  it.each([
    ['v=spf1 include:_spf.relay.example ~all', 'FOUND'],
    ['V=SPF1 mx +Include:_SPF.relay.example. -all', 'FOUND'],
    ['v=spf1 mx -all', 'WRONG'],
    ['v=spf1 -include:_spf.relay.example ~all', 'WRONG'],
    ['v=spf1 include:_spf.relay.example.org ~all', 'WRONG'],
    ['v=spf1 mx ~all include:_spf.relay.example', 'WRONG'],
    ['v=spf1 +all', 'WRONG'],
    ['"v=spf1 include:_spf.relay.example ~all"', 'WRONG'],
    ['v=spf1; include:_spf.relay.example; ~all', 'WRONG'],
    ['spf1 include:_spf.relay.example ~all', 'WRONG'],
    ['v=spf10 include:_spf.relay.example', 'MISSING'],
    ['spf2.0/pra include:_spf.relay.example', 'MISSING'],
    ['some-verification=1', 'MISSING'],
  ])('%j is %s', (record, state) => {
    expect(recordVerdict(named, found('unrelated', record)).state).toBe(state);
  });

  it.each([
    ['v=spf1 mx -all include:_spf.relay.example', 'put `include:_spf.relay.example` behind its `v=spf1`'],
    ['v=spf1 redirect=other.example', 'does not let the relay send'],
    ['v=spf1 mx all', 'lets every server send'],
    ['v=spf1 include:_spf.relay.example -all;', 'contains `-all;`, which is no part of such a record'],
    ['"v=spf1 -all"', 'has quotation marks in it'],
    ['v=spf1\\; -all', 'has backslashes in it'],
    ['v=spf1; -all', 'does not begin with `v=spf1` and a space'],
  ])('%j: %s', (record, message) => {
    expect(recordVerdict(named, found(record)).message).toContain(message);
  });

  it.each([
    [{ kind: 'reached' }, 'FOUND', 'The relay may send'],
    [{ kind: 'unreached' }, 'WRONG', 'does not let the relay send'],
    [{ kind: 'too_many' }, 'WRONG', 'give up on the SPF record after 10 look-ups'],
    [{ kind: 'broken', name: 'gone.example' }, 'WRONG', 'refers to `gone.example`'],
    [{ kind: 'failed', reason: 'no name server answered in time' }, 'UNANSWERED', 'answered in time'],
  ] as const)('that receivers evaluate to %j', (reach, state, message) => {
    const answer = found('v=spf1 include:other.example -all');
    expect(recordVerdict(named, answer, named.name, reach)).toEqual({
      state,
      message: expect.stringContaining(message),
    });
  });

  it('must be unique', () => {
    const verdict = recordVerdict(named, found('v=spf1 ~all', 'v=spf1 include:_spf.relay.example ~all'));
    expect(verdict).toMatchObject({ state: 'WRONG', message: expect.stringContaining('2 SPF records') });
  });

  it('only has to exist while the operator has not configured what it must include', () => {
    expect(recordVerdict(wanted('SPF'), found('v=spf1 ip4:192.0.2.1 -all')).state).toBe('FOUND');
    expect(recordVerdict(wanted('SPF'), ABSENT)).toMatchObject({
      state: 'MISSING',
      message: expect.stringContaining('as its operator says'),
    });
  });
});

describe('A DMARC record', () => {
  it.each([
    [found('v=DMARC1; p=none'), 'FOUND'],
    [found('v=DMARC1;P=REJECT;rua=mailto:a@example.com'), 'FOUND'],
    [found('v=DMARC1; sp=none'), 'WRONG'],
    [found('v=DMARC1'), 'WRONG'],
    [found('v=DMARC1; p=block'), 'WRONG'],
    [found('v=DMARC1; p=none', 'v=DMARC1; p=reject'), 'WRONG'],
    [found('v=DMARC10; p=none'), 'MISSING'],
    [found('v=spf1 -all'), 'MISSING'],
    [ABSENT, 'MISSING'],
  ] as const)('%j is %s', (answer, state) => {
    expect(recordVerdict(wanted('DMARC'), answer).state).toBe(state);
  });

  it.each([
    ['"v=DMARC1; p=none"', 'has quotation marks in it'],
    ['v=DMARC1\\; p=none', 'has backslashes in it'],
    ['v=dmarc1; p=none', 'does not begin with `v=DMARC1;`'],
    ['p=reject; v=DMARC1', 'does not begin with `v=DMARC1;`'],
    ['p=reject', 'does not begin with `v=DMARC1;`'],
    ['v=DMARC1, p=none', 'does not begin with `v=DMARC1;`'],
  ])('%j is one that receivers ignore: %s', (record, fault) => {
    expect(recordVerdict(wanted('DMARC'), found(record))).toEqual({
      state: 'WRONG',
      message: expect.stringContaining(fault),
    });
  });

  it.each([
    ['v=DMARC1; p=reject', '`reject`'],
    ['v=DMARC1; p=none; sp=Reject', '`reject`'],
    ['v=DMARC1; p=reject; sp=none', '`none`'],
    ['v=DMARC1; p=reject; sp=?', '`reject`'],
  ])('%j of a parent applies with its policy for subdomains, %s', (record, policy) => {
    expect(recordVerdict(wanted('DMARC'), found(record), '_dmarc.example.com')).toEqual({
      state: 'FOUND',
      message: `The DMARC record of \`example.com\` applies, with the policy ${policy}`,
    });
  });
});
