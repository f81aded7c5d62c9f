import { expect, it } from '@jest/globals';
import { relaysTable } from './rate-charts.ts';

const NOW = new Date(0);
const SEEN = { relay: 'relay.example:587', senders: 2, up: 2, seenAt: new Date(0), reason: null };

it('a relay that takes emails is shown without a reason', () => {
  expect(relaysTable([SEEN], [], NOW).text).toMatch(/<td class="wrap ">\s*takes emails\s*<\/td>/);
});

it.each([
  [0, 'refuses us or cannot be reached'],
  [1, 'takes emails of 1 of 2 senders'],
])('a relay that takes emails of %i senders is shown with what it said, escaped', (up, state) => {
  const { text } = relaysTable([{ ...SEEN, up, reason: 'auth: 535 <b>No</b>' }], [], NOW);
  expect(text).toContain(` ${state}: <bdi>auth: 535 &lt;b&gt;No&lt;/b&gt;</bdi>`);
});
