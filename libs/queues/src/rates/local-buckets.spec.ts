import { describe, expect, it, jest } from '@jest/globals';
import type { RateLimit } from '@posthorn/domain';
import type { Demand } from './demand.ts';
import { LocalBuckets } from './local-buckets.ts';

const HOUR_MS = 3_600_000;
const HOURLY: RateLimit = { amount: 1, periodSeconds: 3_600, burst: 3 };
const demand = (policy: string, id: string): Demand => ({ policy, id, limit: HOURLY, wanted: 3 });

describe('the buckets of one gateway, without Redis', () => {
  it('R3: a flood of addresses that fail to authenticate fills no bucket of a key again', () => {
    const buckets = new LocalBuckets(10);
    buckets.take([demand('key', 'a')]);
    const addresses = Array.from({ length: 100 }, (_, index) => `address-${index}`);
    buckets.take(addresses.map((id) => demand('failed-authentications', id)));
    expect(buckets.take([demand('key', 'a')])).toMatchObject([{ granted: 0 }]);
  });

  it('R3: those of two policies are apart, whatever their ids', () => {
    const buckets = new LocalBuckets(10);
    const granted = ['key', 'failed-authentications'].map((policy) => buckets.take([demand(policy, 'a')]));
    expect(granted).toMatchObject([[{ granted: 3 }], [{ granted: 3 }]]);
  });

  it('R2: one is known to be not full for as long as it takes to fill, however long the process has been running', () => {
    const now = jest.spyOn(performance, 'now').mockReturnValue(10 * HOUR_MS);
    const buckets = new LocalBuckets(10);
    const ids: string[] = [];
    const standing = () => buckets.standing('key', () => (ids.push('a'), 'a'), HOURLY);
    expect(standing()).toBeUndefined();
    buckets.take([demand('key', 'a')]);
    now.mockReturnValue(12 * HOUR_MS);
    expect(standing()).toMatchObject({ allowed: true, remaining: 2 });
    now.mockReturnValue(14 * HOUR_MS);
    expect(standing()).toBeUndefined();
    now.mockRestore();
    // Only asked for where some bucket may not be full.
    expect(ids).toEqual(['a']);
  });
});
