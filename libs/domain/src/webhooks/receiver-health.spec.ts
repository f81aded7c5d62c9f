import { describe, expect, it } from '@jest/globals';
import { changeAfter, type ReceiverHealth, mergeObservations } from './receiver-health.ts';

const NOW = new Date('2026-11-21T12:00:00Z');
const daysAgo = (days: number): Date => new Date(NOW.getTime() - days * 86_400_000);
const WELL: ReceiverHealth = { failingSince: null, warnedAt: null, isSlow: false };
const failing = (days: number, warnedDaysAgo?: number): ReceiverHealth => ({
  failingSince: daysAgo(days),
  warnedAt: warnedDaysAgo === undefined ? null : daysAgo(warnedDaysAgo),
  isSlow: false,
});
const [SUCCESS, FAILURE, GONE] = (['succeeded', 'failed', 'gone'] as const).map((effect) => ({
  effect,
  isSlow: false,
})) as [
  { effect: 'succeeded'; isSlow: false },
  { effect: 'failed'; isSlow: false },
  { effect: 'gone'; isSlow: false },
];

describe('The change of a webhook after an observation', () => {
  it('W8: is none while it succeeds, and when it fails again soon', () => {
    expect(changeAfter(WELL, SUCCESS, NOW)).toBeUndefined();
    expect(changeAfter(failing(2.9), FAILURE, NOW)).toBeUndefined();
    expect(changeAfter(failing(4.9, 1.9), FAILURE, NOW)).toBeUndefined();
  });

  it('W8: records the first failure, until the next success', () => {
    expect(changeAfter(WELL, FAILURE, NOW)).toEqual({ health: { ...WELL, failingSince: NOW } });
    expect(changeAfter(failing(4, 1), SUCCESS, NOW)).toEqual({ health: WELL });
  });

  it('W8: warns after three days of nothing but failures, once', () => {
    const warned = changeAfter(failing(3), FAILURE, NOW);
    expect(warned).toEqual({ health: { ...failing(3), warnedAt: NOW }, notice: 'FAILING' });
    expect(changeAfter(warned!.health, FAILURE, NOW)).toBeUndefined();
  });

  it('W8: disables after five days of nothing but failures, never without a warning a day before', () => {
    expect(changeAfter(failing(5, 2), FAILURE, NOW)).toMatchObject({ notice: 'DISABLED_FAILING' });
    expect(changeAfter(failing(50), FAILURE, NOW)).toMatchObject({ notice: 'FAILING' });
    expect(changeAfter(failing(50, 0.9), FAILURE, NOW)).toBeUndefined();
    expect(changeAfter(failing(50, 1), FAILURE, NOW)).toMatchObject({ notice: 'DISABLED_FAILING' });
  });

  it('W8: disables at once when it is gone', () => {
    expect(changeAfter(WELL, GONE, NOW)).toMatchObject({ notice: 'DISABLED_GONE' });
  });

  it('marks it as slow, until it succeeds in time', () => {
    const slow = { ...failing(1), isSlow: true };
    expect(changeAfter(WELL, { ...SUCCESS, isSlow: true }, NOW)).toEqual({
      health: { ...WELL, isSlow: true },
    });
    expect(changeAfter(failing(1), { ...FAILURE, isSlow: true }, NOW)).toEqual({ health: slow });
    expect(changeAfter(slow, FAILURE, NOW)).toBeUndefined();
    expect(changeAfter(slow, SUCCESS, NOW)).toEqual({ health: WELL });
  });

  it('only marks it as slow when there is no answer yet', () => {
    const awaited = { effect: 'awaited', isSlow: true } as const;
    expect(changeAfter(WELL, awaited, NOW)).toEqual({ health: { ...WELL, isSlow: true } });
    expect(changeAfter(failing(5, 2), awaited, NOW)).toEqual({ health: { ...failing(5, 2), isSlow: true } });
    expect(changeAfter({ ...WELL, isSlow: true }, awaited, NOW)).toBeUndefined();
    expect(mergeObservations([awaited, awaited])).toEqual(awaited);
    expect(mergeObservations([awaited, FAILURE])).toEqual(FAILURE);
  });

  it('of several POSTs counts as gone if one was, else as succeeded if one was', () => {
    expect(mergeObservations([SUCCESS, GONE, FAILURE])).toEqual(GONE);
    expect(mergeObservations([FAILURE, SUCCESS, FAILURE])).toEqual(SUCCESS);
    expect(mergeObservations([FAILURE, { ...FAILURE, isSlow: true }])).toEqual(FAILURE);
    expect(mergeObservations([{ ...FAILURE, isSlow: true }])).toEqual({ ...FAILURE, isSlow: true });
  });
});
