import { describe, expect, it } from '@jest/globals';
import type { LaneId } from '@posthorn/domain';
import type { ClaimedRow } from '@posthorn/database';
import { claimedRows } from './claimed-rows.fixture.ts';
import { ServeLanes } from './serve-lanes.ts';

const LANE = 'wrk_a:now' as LaneId;
const ROWS = claimedRows(LANE, 'trs', 2);

/** Lanes whose rows cannot be begun now, so that each claim is given back; the first `failures` times, that fails with `fault`. */
function lanesGivingBack(
  fault: Error,
  { isBehind = false, failures = 1, leaseMs = 60_000 } = {},
): {
  lanes: ServeLanes<ClaimedRow, string>;
  claims: string[];
  given: ClaimedRow[];
  errors: unknown[];
} {
  const [claims, given, errors]: [string[], ClaimedRow[], unknown[]] = [[], [], []];
  let asked = 0;
  const lanes = new ServeLanes<ClaimedRow, string>({
    rowsPerTurn: 10,
    handoverMs: 1_000,
    leaseMs,
    renewalMs: 20_000,
    marginMs: leaseMs / 2,
    concurrency: 10,
    maxRows: 20,
    maxBytes: 1_000,
    maxUnrecorded: 100,
    work: () => Promise.resolve(undefined),
    outbox: {
      renew: (rows) => Promise.resolve([...rows] as never),
      giveBack: (rows) => {
        if ((asked += 1) <= failures) return Promise.reject(fault);
        given.push(...(rows as ClaimedRow[]));
        return Promise.resolve();
      },
    },
    rings: { ringAll: () => undefined, ringSlot: () => undefined },
    claim: (demands) => {
      claims.push(...demands.map(({ laneId }) => laneId));
      return Promise.resolve([...ROWS]);
    },
    recorder: { record: () => Promise.resolve(), isBehind },
    onError: (error) => errors.push(error),
  });
  return { lanes, claims, given, errors };
}

describe('Claimed rows that cannot be begun', () => {
  it.each([
    ['the database is available again', 'ECONNREFUSED'],
    ['a deadlock is over', '40P01'],
  ])('are given back as soon as %s', async (_when, code) => {
    const { lanes, given, errors } = lanesGivingBack(Object.assign(new Error('not now'), { code }));
    await lanes.serve(LANE, '0');
    await lanes.drain();
    expect(given).toEqual(ROWS);
    expect(errors).toHaveLength(1);
  });

  it('are left to their lease when the database is away until that ends, so that a process can end before it is back', async () => {
    const away = Object.assign(new Error('not now'), { code: 'ECONNREFUSED' });
    const { lanes, given, errors } = lanesGivingBack(away, { failures: Infinity, leaseMs: 600 });
    await lanes.serve(LANE, '0');
    await lanes.drain();
    expect(given).toEqual([]);
    expect(errors.length).toBeGreaterThan(1);
    expect(errors.every((error) => error === away)).toBe(true);
  });

  it('are left to their lease after a fault of ours, which would fail again', async () => {
    const { lanes, given, errors } = lanesGivingBack(new TypeError('no such column'));
    await lanes.serve(LANE, '0');
    await lanes.drain();
    expect(given).toEqual([]);
    expect(errors).toContainEqual(new TypeError('no such column'));
  });
});

describe('A turn', () => {
  it('claims nothing while outcomes wait to be recorded: the rows would be processed repeatedly', async () => {
    const { lanes, claims } = lanesGivingBack(new Error('unused'), { isBehind: true });
    await lanes.serve(LANE, '0');
    await lanes.drain();
    expect(claims).toEqual([]);
  });
});
