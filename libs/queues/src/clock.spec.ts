import { describe, expect, it } from '@jest/globals';
import type { LaneId } from '@posthorn/domain';
import { Clock } from './clock.ts';

const LANE = 'wrk_01k9zq7v3nf4b8gq2m5c6d7e8f.bulk' as LaneId;
const FULL = 5_000;

/** A clock over an outbox that finds these numbers of due rows, one after the other; and what it did, in order. */
function clockOver(found: number[], { tickMs = 60_000 } = {}) {
  const did: string[] = [];
  const errors: unknown[] = [];
  const ring = { ringSlot: () => void did.push('ring') };
  const clock = new Clock({
    outbox: {
      ripen: (limit) => {
        did.push('ripen');
        return Promise.resolve(Math.min(limit, found.shift() ?? 0));
      },
      revive: () => Promise.resolve({ revived: 0, givenUp: 0 }),
      lanesWithReadyRows: () => Promise.resolve([{ queue: 'email', laneId: LANE, isSlow: false }]),
    },
    rings: { email: ring, event: ring, webhook: ring, slowWebhook: ring },
    ...{ tickMs, graceMs: 15_000 },
    onError: (error) => void errors.push(error),
  });
  return { clock, did, errors };
}

describe('Clock', () => {
  it('rings for what is ripe before it looks at the rest, and for all of it at the end', async () => {
    const { clock, did, errors } = clockOver([FULL, 1]);
    await clock.tick();
    expect(did).toEqual(['ripen', 'ring', 'ripen', 'ring']);
    expect(errors).toEqual([]);
  });

  it('rings no more often than by a tick, however much is due', async () => {
    const { clock, did } = clockOver(Array.from({ length: 20 }, () => FULL));
    await clock.tick();
    expect(did.filter((what) => what === 'ripen')).toHaveLength(21);
    expect(did.filter((what) => what === 'ring')).toHaveLength(2);
  });

  it('rings again and again while to ripen what is due takes longer than a tick', async () => {
    const { clock, did } = clockOver([FULL, FULL, FULL], { tickMs: 0 });
    await clock.tick();
    expect(did).toEqual(['ripen', 'ring', 'ripen', 'ring', 'ripen', 'ring', 'ripen', 'ring']);
  });
});
