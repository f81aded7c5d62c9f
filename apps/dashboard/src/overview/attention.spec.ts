import { describe, expect, it } from '@jest/globals';
import { EVERY_LANE, LATE_SECONDS } from '@posthorn/domain';
import type { PausedLane, QueueBacklog } from '@posthorn/database';
import { attention } from './attention.ts';

const RELAY = { relay: 'relay.example:587', senders: 2, up: 2, seenAt: new Date(0), reason: null };
const EMAILS: QueueBacklog = { queue: 'email', dueLanes: 1, due: 1, leased: 0, oldestDueSeconds: 1 };
const FINE = { isRedisUp: true, relays: [RELAY], backlog: [EMAILS], paused: [] };
const ALL_PAUSED: PausedLane = {
  queue: 'email',
  laneId: EVERY_LANE,
  reason: 'Odd <mails>',
  pausedAt: new Date(0),
};

describe('The top of the overview', () => {
  it('says so when nothing is wrong', () => {
    const { text } = attention(FINE);
    expect(text).toContain('Relays take emails, nothing is late, and no queue is paused.');
    expect(text).not.toContain('alert');
  });

  it.each([
    ['Redis', { isRedisUp: false }, 'Redis does not answer'],
    ['senders', { relays: [] }, 'No sender has reported its relays'],
    [
      'a relay',
      { relays: [RELAY, { ...RELAY, relay: 'other.example:25', up: 0, reason: 'auth: 535 <b>No' }] },
      'other.example:25 refuses us or cannot be reached: <bdi>auth: 535 &lt;b&gt;No</bdi>.',
    ],
    ['a pause of everything', { paused: [ALL_PAUSED] }, '“<bdi>Odd &lt;mails&gt;</bdi>”'],
    ['late emails', { backlog: [{ ...EMAILS, oldestDueSeconds: LATE_SECONDS + 1 }] }, 'Emails: the oldest'],
  ])('names what is wrong: %s', (_what, change, words) => {
    const text = attention({ ...FINE, ...change }).text.replace(/\s+/g, ' ');
    expect(text).toContain(words);
    expect(text.match(/role="alert"/g)).toHaveLength(1);
  });

  it('does not mention the pause of a single workspace', () => {
    const paused = [{ ...ALL_PAUSED, laneId: 'wrk_01k9zq7v3nf4b8gq2m5c6d7e8f.now' as PausedLane['laneId'] }];
    expect(attention({ ...FINE, paused }).text).not.toContain('Odd');
  });
});
