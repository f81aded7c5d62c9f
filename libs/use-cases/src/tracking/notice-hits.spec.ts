import { beforeEach, describe, expect, it } from '@jest/globals';
import { newId, sleep, within } from '@posthorn/kernel';
import type { Hit } from '@posthorn/domain';
import { trackingHits } from '@posthorn/platform';
import { NoticeHits } from './notice-hits.ts';

const AWAY = Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED', syscall: 'connect' });
const hit = (): Hit => ({ emailId: newId('trs', 0), kind: 'open', at: new Date(0), sign: undefined });

/** A gate that blocks until it is opened. */
function gate(): { readonly opened: Promise<void>; open: () => void } {
  const { promise, resolve } = Promise.withResolvers<void>();
  return { opened: promise, open: resolve };
}

/** A recorder of hits that uses `record`, with what was recorded and logged. */
function noticing(record: (group: readonly Hit[]) => Promise<void>) {
  const groups: number[] = [];
  const errors: string[] = [];
  const noticed = new NoticeHits({
    hits: {
      record: async (group) => {
        await record(group);
        groups.push(group.length);
      },
    },
    onError: (error) => errors.push((error as Error).name),
  });
  return { noticed, groups, errors };
}

async function until(isSo: () => Promise<boolean> | boolean): Promise<void> {
  while (!(await isSo())) await sleep(5);
}

async function counted(result: string): Promise<number> {
  const { values } = await trackingHits.get();
  return values.find(({ labels }) => labels.kind === 'open' && labels.result === result)?.value ?? 0;
}

describe('S17: noticing hits', () => {
  beforeEach(() => trackingHits.reset());

  it('records hits that arrive during a write together in the next one, 500 at most', async () => {
    const writing = gate();
    let begun = 0;
    const { noticed, groups } = noticing(() => {
      begun += 1;
      return writing.opened;
    });
    for (let n = 0; n < 3; n += 1) noticed.note(hit());
    await until(() => begun === 1);
    for (let n = 0; n < 700; n += 1) noticed.note(hit());
    writing.open();
    await until(async () => (await counted('recorded')) === 703);
    expect(groups).toEqual([3, 500, 200]);
    await noticed.close();
  });

  it('keeps them while the database is unavailable, and records them when it is back', async () => {
    let isAway = true;
    const { noticed, groups, errors } = noticing(() => (isAway ? Promise.reject(AWAY) : Promise.resolve()));
    for (let n = 0; n < 20; n += 1) noticed.note(hit());
    await until(() => errors.length > 0);
    expect(groups).toEqual([]);
    isAway = false;
    await until(() => groups.length > 0);
    expect(groups).toEqual([20]);
    expect(errors.every((name) => name === 'Error')).toBe(true);
    await noticed.close();
  });

  it.each([
    ['two gateways deadlocked over them', '40P01'],
    ['somebody else held a lock for too long', '55P03'],
  ])('records them with the next try when %s', async (_what, code) => {
    const faults = [Object.assign(new Error('not now'), { code })];
    const { noticed, groups } = noticing(() => {
      const fault = faults.shift();
      return fault === undefined ? Promise.resolve() : Promise.reject(fault);
    });
    noticed.note(hit());
    await until(() => groups.length > 0);
    await noticed.close();
    expect([await counted('recorded'), await counted('refused')]).toEqual([1, 0]);
  });

  it('retries the same group although more hits have arrived: whether it was counted is known by the group', async () => {
    const tried: (readonly Hit[])[] = [];
    const { noticed } = noticing((group) => {
      tried.push(group);
      return tried.length === 1 ? Promise.reject(AWAY) : Promise.resolve();
    });
    noticed.note(hit());
    await until(() => tried.length === 1);
    noticed.note(hit());
    await until(() => tried.length === 3);
    await noticed.close();
    expect(tried[1]).toBe(tried[0]);
    expect(tried.map(({ length }) => length)).toEqual([1, 1, 1]);
  });

  it('drops hits beyond its limit, and logs that', async () => {
    const { noticed, errors } = noticing(() => Promise.reject(AWAY));
    for (let n = 0; n < 10_005; n += 1) noticed.note(hit());
    await until(() => errors.includes('Error'));
    expect(errors.filter((name) => name === 'HitForgotten')).toHaveLength(5);
    await noticed.close();
    expect([await counted('forgotten'), await counted('recorded')]).toEqual([5, 0]);
  });

  it('does not retry what the database refuses; later hits are recorded', async () => {
    const { noticed, groups, errors } = noticing(({ length }) =>
      length > 1 ? Promise.reject(new Error('refused')) : Promise.resolve(),
    );
    noticed.note(hit());
    noticed.note(hit());
    await until(() => errors.length > 0);
    noticed.note(hit());
    await until(() => groups.length > 0);
    await noticed.close();
    expect([groups, errors]).toEqual([[1], ['Error']]);
    expect([await counted('refused'), await counted('recorded')]).toEqual([2, 1]);
  });

  it('stops within the time limit for a shutdown, although the database is unavailable', async () => {
    const { noticed } = noticing(() => Promise.reject(AWAY));
    noticed.note(hit());
    const stopped = noticed.close().then(() => 'stopped');
    expect(await within(stopped, 25_000)).toBe('stopped');
  });
});
