import { describe, expect, it } from '@jest/globals';
import { OutcomeRecorder } from './outcome-recorder.ts';

interface Outcome {
  readonly n: number;
  readonly detail: string | null;
}

const REFUSED = Object.assign(new Error('invalid byte sequence'), { code: '22021' });
const OUT_OF_TIME = Object.assign(new Error('canceling statement due to statement timeout'), {
  code: '57014',
});
const LOCKED = Object.assign(new Error('lock not available'), { code: '55P03' });

/** A recorder with a database that accepts what `take` does not throw for, and what it was asked to record. */
function recorderBefore(take: (outcome: Outcome) => void): {
  recorder: OutcomeRecorder<Outcome>;
  asked: Outcome[][];
  errors: unknown[];
} {
  const asked: Outcome[][] = [];
  const errors: unknown[] = [];
  const recorder = new OutcomeRecorder<Outcome>({
    record: async (outcomes) => {
      await Promise.resolve();
      asked.push([...outcomes]);
      outcomes.forEach(take);
      return new Set();
    },
    withoutDetail: (outcome) => ({ ...outcome, detail: null }),
    onError: (error) => errors.push(error),
  });
  return { recorder, asked, errors };
}

function refuseDetails({ detail }: Outcome): void {
  if (detail === '\0') throw REFUSED;
}

describe('Outcomes', () => {
  it('that are known together are recorded together', async () => {
    const { recorder, asked } = recorderBefore(() => undefined);
    expect(await Promise.all([1, 2, 3].map((n) => recorder.record({ n, detail: 'x' })))).toHaveLength(3);
    expect(asked).toHaveLength(1);
  });

  it('with a detail that the database refuses are recorded without it; others keep theirs', async () => {
    const { recorder, asked } = recorderBefore(refuseDetails);
    const bad = recorder.record({ n: 1, detail: '\0' });
    const good = recorder.record({ n: 2, detail: 'x' });
    await Promise.all([bad, good]);
    expect(asked.slice(1)).toContainEqual([{ n: 2, detail: 'x' }]);
    expect(asked.at(-1)).toEqual([{ n: 1, detail: null }]);
    expect(recorder.isBehind).toBe(false);
  });

  it('that the database refuses are found in few statements, one after another, and others are durable before any of them is tried again', async () => {
    let [underWay, mostUnderWay] = [0, 0];
    const asked: Outcome[][] = [];
    const recorder = new OutcomeRecorder<Outcome>({
      record: async (outcomes) => {
        asked.push([...outcomes]);
        mostUnderWay = Math.max(mostUnderWay, (underWay += 1));
        await Promise.resolve();
        underWay -= 1;
        outcomes.forEach(refuseDetails);
        return new Set();
      },
      withoutDetail: (outcome) => ({ ...outcome, detail: null }),
      onError: () => undefined,
    });
    const all = Array.from({ length: 500 }, (_, n) => ({ n, detail: n === 100 || n === 400 ? '\0' : 'x' }));
    await Promise.all(all.map((outcome) => recorder.record(outcome)));
    expect(mostUnderWay).toBe(1);
    // The whole group, and twice as many for each as it can be halved.
    expect(asked.length).toBeLessThan(40);
    expect(asked.at(-1)).toEqual([100, 400].map((n) => ({ n, detail: null })));
    const durable = asked.slice(0, -1).filter((group) => group.every(({ detail }) => detail === 'x'));
    expect(durable.flat()).toHaveLength(498);
    expect(recorder.isBehind).toBe(false);
  });

  it.each([
    ['their rows are locked', LOCKED],
    ['the database is so slow that even a single one times out', OUT_OF_TIME],
  ])('are kept while %s, and nothing may be claimed meanwhile', async (_when, fault) => {
    let isRefused = true;
    const { recorder, asked } = recorderBefore(() => {
      if (isRefused) throw fault;
    });
    const recorded = recorder.record({ n: 1, detail: 'x' });
    while (asked.length < 2) await new Promise((resolve) => setTimeout(resolve, 20));
    expect(recorder.isBehind).toBe(true);
    isRefused = false;
    await recorded;
    expect(asked.at(-1)).toEqual([{ n: 1, detail: 'x' }]);
    expect(recorder.isBehind).toBe(false);
  });

  it('that are deferred are tried again, and delay neither others nor claims', async () => {
    let isHeld = true;
    const tried: number[] = [];
    const recorder = new OutcomeRecorder<Outcome>({
      record: (outcomes) => {
        tried.push(...outcomes.map(({ n }) => n));
        return Promise.resolve(new Set(outcomes.filter(({ n }) => n === 1 && isHeld)));
      },
      withoutDetail: (outcome) => outcome,
      onError: (error) => {
        throw error;
      },
    });
    const held = recorder.record({ n: 1, detail: 'x' });
    await recorder.record({ n: 2, detail: 'x' });
    expect(recorder.isBehind).toBe(false);
    await new Promise((resolve) => setTimeout(resolve, 100));
    // Not at once: whoever holds it may do so for seconds.
    expect(tried).toEqual([1, 2]);
    isHeld = false;
    await held;
    expect(tried).toEqual([1, 2, 1]);
  });

  it('that time out together are recorded in smaller groups', async () => {
    const asked: number[][] = [];
    const recorder = new OutcomeRecorder<Outcome>({
      record: (outcomes) => {
        asked.push(outcomes.map(({ n }) => n));
        if (outcomes.length > 2) return Promise.reject(OUT_OF_TIME);
        return Promise.resolve(new Set(outcomes.filter(({ n }) => n === 3 && asked.length < 6)));
      },
      withoutDetail: (outcome) => outcome,
      onError: () => undefined,
    });
    const all = [1, 2, 3, 4, 5].map((n) => recorder.record({ n, detail: 'x' }));
    await Promise.all(all);
    // The third one is deferred once.
    expect(asked).toEqual([[1, 2, 3, 4, 5], [1, 2, 3], [1, 2], [3], [4, 5], [3]]);
    expect(recorder.isBehind).toBe(false);
  });

  it('whose data is always refused are given up and logged, and delay no others', async () => {
    const { recorder, asked, errors } = recorderBefore(({ n }) => {
      if (n === 1) throw REFUSED;
    });
    const [bad, good] = [recorder.record({ n: 1, detail: 'x' }), recorder.record({ n: 2, detail: 'x' })];
    await Promise.all([bad, good]);
    expect(asked.length).toBeLessThan(10);
    expect(errors.at(-1)).toMatchObject({ name: 'OutcomeRefused' });
    expect(recorder.isBehind).toBe(false);
    await recorder.record({ n: 3, detail: 'x' });
    expect(asked.at(-1)).toEqual([{ n: 3, detail: 'x' }]);
  });

  it('are kept while statements fail by a fault of ours, also beside refused data: rows that were claimed meanwhile would be processed repeatedly', async () => {
    let isBroken = true;
    const { recorder, asked, errors } = recorderBefore(({ n }) => {
      if (n === 1) throw REFUSED;
      if (n === 2 && isBroken) throw new TypeError('no such column');
    });
    const recorded = Promise.all([1, 2].map((n) => recorder.record({ n, detail: 'x' })));
    // All together and each alone: more often than refused data is tried before it is given up.
    while (asked.length < 3 * 8) await new Promise((resolve) => setTimeout(resolve, 20));
    expect(recorder.isBehind).toBe(true);
    expect(errors).not.toContainEqual(expect.objectContaining({ name: 'OutcomeRefused' }));
    isBroken = false;
    await recorded;
    expect(asked).toContainEqual([{ n: 2, detail: null }]);
    expect(errors.filter((error) => (error as Error).name === 'OutcomeRefused')).toHaveLength(1);
    expect(recorder.isBehind).toBe(false);
  });
});
