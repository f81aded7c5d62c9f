import { expect, it } from '@jest/globals';
import { DatabaseClock, newId } from '@posthorn/kernel';
import type { IdentityWithRecords } from '@posthorn/database';
import { IdentityViews } from './identity-views.ts';

const RETIRED_AT = new Date('2030-01-31T09:30:00Z');
const DAY_MS = 86_400_000;

/** A domain whose key was replaced. */
const domain: IdentityWithRecords = {
  id: newId('idn', 0),
  workspaceId: newId('wrk', 0),
  kind: 'domain',
  value: 'shop.example',
  status: 'VERIFIED',
  isVouched: false,
  verifiedAt: RETIRED_AT,
  createdAt: RETIRED_AT,
  keys: [
    {
      id: '1',
      algorithm: 'ed25519',
      selector: 's1',
      publicKey: 'A',
      stage: 'PREVIOUS',
      publishedAt: null,
      wrongSince: null,
      retiredAt: RETIRED_AT,
    },
  ],
  check: {
    claims: 1,
    checkedAt: null,
    dueAt: null,
    rounds: 1,
    wrongSince: null,
    wrongAnswers: 0,
    warnedAt: null,
    findings: {},
  },
};

it.each([
  [6, 'Leave the record until 2030-02-07T09:30:00.000Z'],
  [8, 'it may be removed'],
])(
  '%i days after a key was replaced, by the clock of the database, its record has the sentence',
  (days, said) => {
    const clock = new DatabaseClock();
    clock.observe(RETIRED_AT.getTime() + days * DAY_MS, performance.now());
    const { identity } = new IdentityViews(undefined, clock).answer(domain);
    expect(identity.records[0]!.message).toContain(said);
  },
);
