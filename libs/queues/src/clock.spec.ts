import { describe, expect, it } from '@jest/globals';
import { setImmediate as nextTurnOfTheLoop, setTimeout as sleep } from 'node:timers/promises';
import type { LaneId } from '@posthorn/domain';
import { Clock, type ClockOptions, untilNextTickMs } from './clock.ts';

const LANE = 'wrk_01k9zq7v3nf4b8gq2m5c6d7e8f.bulk' as LaneId;
const FULL = 5_000;

/** A clock with an outbox whose statements find these numbers of due rows, one after the other, and what it did, in order. */
function clockOver(found: number[], { tickMs = 60_000 } = {}) {
  const did: string[] = [];
  const errors: unknown[] = [];
  const ring = { ringSlot: () => void did.push('ring') };
  const options: ClockOptions = {
    outbox: {
      makeReady: (limit) => {
        did.push('makeReady');
        return Promise.resolve(Math.min(limit, found.shift() ?? 0));
      },
      revive: () => Promise.resolve({ revived: 0, givenUp: 0 }),
      lanesWithReadyRows: () => Promise.resolve([{ queue: 'email', laneId: LANE, isSlow: false }]),
    },
    rings: { email: ring, event: ring, webhook: ring, slowWebhook: ring },
    tickMs,
    graceMs: 15_000,
    renewalMs: 20_000,
    databaseNowMs: () => Promise.resolve(Date.now()),
    onError: (error) => void errors.push(error),
  };
  return { clock: new Clock(options), options, did, errors };
}

describe('Clock', () => {
  it('rings lanes after the first statement that makes rows ready, and again at the end', async () => {
    const { clock, did, errors } = clockOver([FULL, 1]);
    await clock.tick();
    expect(did).toEqual(['makeReady', 'ring', 'makeReady', 'ring']);
    expect(errors).toEqual([]);
  });

  it('rings at most once a tick, however many rows are due', async () => {
    const { clock, did } = clockOver(Array.from({ length: 20 }, () => FULL));
    await clock.tick();
    expect(did.filter((what) => what === 'makeReady')).toHaveLength(21);
    expect(did.filter((what) => what === 'ring')).toHaveLength(2);
  });

  it('rings a lane in two slots by turns, so that a dead turn blocks one tick at most, and a slow lane in its only slot', async () => {
    const { options } = clockOver([]);
    const slots: string[] = [];
    const ringOf = (queue: string) => ({
      ringSlot: (_lane: LaneId, slot: string) => void slots.push(`${queue} ${slot}`),
    });
    const clock = new Clock({
      ...options,
      outbox: {
        ...options.outbox,
        lanesWithReadyRows: () =>
          Promise.resolve([
            { queue: 'webhook', laneId: LANE, isSlow: false },
            { queue: 'webhook', laneId: LANE, isSlow: true },
          ]),
      },
      rings: { ...options.rings, webhook: ringOf('webhook'), slowWebhook: ringOf('slowWebhook') },
    });
    for (let ticks = 0; ticks < 3; ticks += 1) await clock.tick();
    expect(slots.filter((slot) => slot.startsWith('slow'))).toEqual(Array(3).fill('slowWebhook 0'));
    const [first, second, third] = slots.filter((slot) => slot.startsWith('webhook'));
    expect([first, second].toSorted()).toEqual(['webhook c0', 'webhook c1']);
    expect(third).toBe(first);
  });

  it('ticks once in each interval, until it is stopped', async () => {
    const { clock, did } = clockOver([], { tickMs: 20 });
    clock.start();
    await sleep(110);
    await clock.stop();
    const ticks = did.length;
    await sleep(40);
    expect(did.length).toBe(ticks);
    expect(did.filter((what) => what === 'makeReady').length).toBeGreaterThan(0);
    expect(did.filter((what) => what === 'makeReady').length).toBeLessThan(10);
  });

  it('stops only when the tick that is under way has ended', async () => {
    const { options } = clockOver([]);
    const [begun, ready] = [Promise.withResolvers<void>(), Promise.withResolvers<number>()];
    const makeReady = (): Promise<number> => {
      begun.resolve();
      return ready.promise;
    };
    const clock = new Clock({ ...options, tickMs: 1, outbox: { ...options.outbox, makeReady } });
    clock.start();
    await begun.promise;
    let hasStopped = false;
    const stopped = clock.stop().then(() => (hasStopped = true));
    await sleep(5);
    expect(hasStopped).toBe(false);
    ready.resolve(0);
    await stopped;
  });

  it('begins no tick when it is stopped while it waits for one', async () => {
    const { clock, did } = clockOver([]);
    clock.start();
    await clock.stop();
    expect(did).toEqual([]);
  });

  it('rings repeatedly while making rows ready takes longer than a tick', async () => {
    const { clock, did } = clockOver([FULL, FULL, FULL], { tickMs: 0 });
    await clock.tick();
    expect(did).toEqual(['makeReady', 'ring', 'makeReady', 'ring', 'makeReady', 'ring', 'makeReady', 'ring']);
  });
});

describe('Clock: making rows ready for minutes', () => {
  /** A clock with an outbox of which a hundred statements, of a second each, make the maximum of rows ready; before that, nothing is due. */
  function busyClock() {
    let [statements, nowMs] = [0, 0];
    const ring = { ringSlot: () => undefined };
    const liveness: boolean[] = [];
    const clock: Clock = new Clock({
      outbox: {
        makeReady: async () => {
          await nextTurnOfTheLoop();
          nowMs += 1_000;
          liveness.push(clock.liveness(60_000).ok);
          statements += 1;
          return statements === 1 || statements > 100 ? 0 : FULL;
        },
        revive: () => Promise.resolve({ revived: 0, givenUp: 0 }),
        lanesWithReadyRows: () => Promise.resolve([]),
      },
      rings: { email: ring, event: ring, webhook: ring, slowWebhook: ring },
      tickMs: 1,
      graceMs: 15_000,
      renewalMs: 20_000,
      databaseNowMs: () => Promise.resolve(0),
      nowMs: () => nowMs,
      onError: (error) => {
        throw error;
      },
    });
    return { clock, liveness };
  }

  it('does not count as stuck', async () => {
    const { clock, liveness } = busyClock();
    // Before the first answer of the database, no clock counts as stuck.
    await clock.tick();
    await clock.tick();
    expect(liveness).toHaveLength(101);
    expect(liveness).not.toContain(false);
  });

  it('is cut short when the clock is stopped', async () => {
    const { clock, liveness } = busyClock();
    await clock.tick();
    clock.start();
    while (liveness.length < 3) await nextTurnOfTheLoop();
    await clock.stop();
    expect(liveness.length).toBeLessThan(100);
  });
});

describe('Clock: liveness', () => {
  const MINUTE_MS = 60_000;
  const STUCK_AFTER_MS = 60_000;

  it('counts as alive for as long as it ticks, and as stuck a minute after its last tick', async () => {
    let nowMs = 0;
    const { options } = clockOver([]);
    const clock = new Clock({ ...options, nowMs: () => nowMs });
    for (let ticks = 0; ticks < 10; ticks += 1) {
      await clock.tick();
      nowMs += MINUTE_MS / 2;
      expect(clock.liveness(STUCK_AFTER_MS).ok).toBe(true);
    }
    nowMs += MINUTE_MS / 2;
    expect(clock.liveness(STUCK_AFTER_MS)).toEqual({ ok: false, detail: 'last progress 60000 ms ago' });
  });
});

describe('Clock: leases of live processes', () => {
  const HOUR_MS = 3_600_000;
  const AWAY = new Error('the database is away');

  /** A clock that has just started, and both clocks, for the test to set. */
  function startedClock(tickMs = 1_000) {
    const time = {
      nowMs: 0,
      databaseMs: 1_700_000_000_000,
      isAway: false,
      whileMakingReady: (): void => undefined,
      whileReadingTime: (): void => undefined,
      whileRinging: (): void => undefined,
    };
    let revivals = 0;
    const asked: unknown[] = [];
    const ring = { ringSlot: () => undefined };
    const clock = new Clock({
      outbox: {
        makeReady: () => {
          time.whileMakingReady();
          return Promise.resolve(0);
        },
        revive: (graceMs, _limit, maxUnanswered, asOfMs) => {
          asked.push({ graceMs, maxUnanswered, asOfMs });
          return Promise.resolve({ revived: (revivals += 1), givenUp: 0 });
        },
        lanesWithReadyRows: () => {
          time.whileRinging();
          return Promise.resolve([]);
        },
      },
      rings: { email: ring, event: ring, webhook: ring, slowWebhook: ring },
      tickMs,
      graceMs: 15_000,
      renewalMs: 20_000,
      databaseNowMs: () => {
        time.whileReadingTime();
        return time.isAway ? Promise.reject(AWAY) : Promise.resolve(time.databaseMs);
      },
      nowMs: () => time.nowMs,
      onError: (error) => {
        if (error !== AWAY) throw error;
      },
    });
    const revivesAfter = async (ms: number): Promise<boolean> => {
      time.nowMs += ms;
      time.databaseMs += ms;
      const before = revivals;
      await clock.tick();
      return revivals > before;
    };
    /** After how many rounds, one a second, it begins to revive rows. */
    const roundsUntilRevival = async (): Promise<number> => {
      for (let seconds = 0; ; seconds += 1) if (await revivesAfter(1_000)) return seconds;
    };
    return { time, asked, revivesAfter, roundsUntilRevival };
  }

  /** The same after it has been in contact with the database for a while. */
  async function clockInContact() {
    const started = startedClock();
    for (let seconds = 0; seconds <= 40; seconds += 1) await started.revivesAfter(1_000);
    return started;
  }

  it('are checked in every round once the clock has been connected for long enough', async () => {
    const { revivesAfter } = await clockInContact();
    expect([await revivesAfter(1_000), await revivesAfter(1_000)]).toEqual([true, true]);
  });

  it('are checked in every round although rounds are further apart than the time after which one counts as abandoned', async () => {
    const { revivesAfter } = startedClock(60_000);
    expect([await revivesAfter(60_000), await revivesAfter(60_000)]).toEqual([false, true]);
  });

  it('count as abandoned 15 s after they have ended, and a row is given up after five of them', async () => {
    const { asked } = await clockInContact();
    expect(asked[0]).toMatchObject({ graceMs: 15_000, maxUnanswered: 5 });
  });

  it('count as ended by the time that was read just before, however late the statement is executed', async () => {
    const { time, asked, revivesAfter } = await clockInContact();
    await revivesAfter(1_000);
    expect(asked.at(-1)).toMatchObject({ asOfMs: time.databaseMs });
  });

  it.each([
    [
      'the time by which they end was set forward, or the machine slept,',
      { database: HOUR_MS, monotonic: 0 },
    ],
    ['the time by which they end was set back', { database: -HOUR_MS, monotonic: 0 }],
    ['everything stood still', { database: HOUR_MS, monotonic: HOUR_MS }],
  ])('can be renewed before any row is revived when %s', async (_what, passed) => {
    const { time, roundsUntilRevival } = await clockInContact();
    time.databaseMs += passed.database;
    time.nowMs += passed.monotonic;
    expect(await roundsUntilRevival()).toBe(35);
  });

  it('can be renewed before any row is revived when the time was set while due rows were made ready', async () => {
    const { time, revivesAfter, roundsUntilRevival } = await clockInContact();
    time.whileMakingReady = () => {
      time.databaseMs += HOUR_MS;
    };
    expect(await revivesAfter(1_000)).toBe(false);
    time.whileMakingReady = () => undefined;
    expect(await roundsUntilRevival()).toBe(34);
  });

  it.each([
    ['due rows were made ready', 'whileMakingReady'],
    ['the time was read', 'whileReadingTime'],
  ] as const)(
    'can be renewed before any row is revived when everything stood still while %s',
    async (_what, during) => {
      const { time, revivesAfter, roundsUntilRevival } = await clockInContact();
      time[during] = () => {
        time.nowMs += HOUR_MS;
        time.databaseMs += HOUR_MS;
      };
      expect(await revivesAfter(1_000)).toBe(false);
      time[during] = () => undefined;
      expect(await roundsUntilRevival()).toBe(34);
    },
  );

  it('can be renewed before any further row is revived when everything stood still while lanes were rung', async () => {
    const { time, revivesAfter, roundsUntilRevival } = await clockInContact();
    time.whileRinging = () => {
      time.nowMs += HOUR_MS;
      time.databaseMs += HOUR_MS;
    };
    await revivesAfter(1_000);
    time.whileRinging = () => undefined;
    expect(await roundsUntilRevival()).toBe(34);
  });

  it('can be renewed before any row is revived by a clock that has just started: it may have missed that the time was set', async () => {
    expect(await startedClock().roundsUntilRevival()).toBe(35);
  });

  it('can be renewed before any row is revived when the database was away', async () => {
    const { time, revivesAfter, roundsUntilRevival } = await clockInContact();
    time.isAway = true;
    expect(await revivesAfter(1_000)).toBe(false);
    time.isAway = false;
    expect(await roundsUntilRevival()).toBe(15);
  });

  it('are checked without a delay after a small clock step or a slow tick', async () => {
    const { time, revivesAfter } = await clockInContact();
    time.databaseMs += 10_000;
    expect(await revivesAfter(1_000)).toBe(true);
    time.databaseMs -= 10_000;
    expect(await revivesAfter(5_000)).toBe(true);
  });
});

describe('untilNextTickMs', () => {
  const SECOND = 1_700_000_000_000;

  it.each([
    [SECOND, 1_000, 1_005],
    [SECOND + 5.3, 1_000, 999.7],
    [SECOND + 999, 1_000, 6],
    [SECOND + 250, 200, 155],
    [SECOND + 250, 60_000, 59_755],
  ])(
    'at %d, with rounds of %d ms, is %d ms: just after a second or a part of it begins',
    (now, tickMs, ms) => {
      expect(untilNextTickMs(now, tickMs)).toBeCloseTo(ms, 2);
    },
  );
});
