import { describe, expect, it } from '@jest/globals';
import {
  decideRotation,
  KEY_ROTATION,
  keysAfterCheck,
  propagatedAfterSeconds,
  stageMessage,
  type StagedKey,
} from './key-rotation.ts';
import type { RecordState } from './record-state.ts';

const NOW = Date.UTC(2026, 10, 21);
const { propagationMs, overlapMs } = KEY_ROTATION;

function key(change: Partial<StagedKey> = {}): StagedKey {
  const { algorithm = 'rsa', stage = 'CURRENT' } = change;
  const published = { publishedAtMs: NOW - 90 * overlapMs, wrongSinceMs: null, retiredAtMs: null };
  return { id: `${algorithm} ${stage}`, algorithm, stage, ...published, ...change };
}
const next = (change: Partial<StagedKey> = {}): StagedKey =>
  key({ stage: 'NEXT', publishedAtMs: null, ...change });
const previous = (retiredAtMs: number): StagedKey =>
  key({ stage: 'PREVIOUS', publishedAtMs: null, retiredAtMs });

/** The stages by id after a check that found these states, by id. */
function look(
  keys: readonly StagedKey[],
  states: Readonly<Record<string, RecordState>>,
): Record<string, string> {
  const after = keysAfterCheck(keys, ({ id }) => states[id] ?? 'FOUND', NOW);
  return Object.fromEntries(after.map(({ id, stage }) => [id, stage]));
}

describe('A request to rotate keys', () => {
  it('gives keys that sign a successor, and replaces the others', () => {
    const unused = key({ algorithm: 'ed25519', publishedAtMs: null });
    expect(decideRotation([key(), unused], NOW)).toEqual({
      kind: 'begin',
      stages: { rsa: 'NEXT', ed25519: 'CURRENT' },
      dropped: ['ed25519 CURRENT'],
    });
    expect(decideRotation([], NOW)).toMatchObject({ stages: { rsa: 'CURRENT', ed25519: 'CURRENT' } });
  });

  it('changes nothing while a rotation is under way', () => {
    expect(decideRotation([key(), next()], NOW)).toEqual({ kind: 'under_way' });
  });

  it('is too early while the previous records must stay, and deletes their keys afterwards', () => {
    expect(decideRotation([key(), previous(NOW - 1)], NOW)).toEqual({
      kind: 'too_early',
      untilMs: NOW - 1 + overlapMs,
    });
    const leftOver = next({ algorithm: 'ed25519' });
    const keys = [key(), previous(NOW - overlapMs), key({ algorithm: 'ed25519' }), leftOver];
    expect(decideRotation(keys, NOW)).toEqual({
      kind: 'begin',
      stages: { rsa: 'NEXT', ed25519: 'NEXT' },
      dropped: ['rsa PREVIOUS', 'ed25519 NEXT'],
    });
  });
});

describe('A check of the records', () => {
  it('switches to a new key an hour after it was first found, not before', () => {
    const settled = next({ publishedAtMs: NOW - propagationMs });
    expect(look([key(), settled], {})).toEqual({ 'rsa CURRENT': 'PREVIOUS', 'rsa NEXT': 'CURRENT' });
    for (const publishedAtMs of [null, NOW - propagationMs + 1]) {
      expect(look([key(), next({ publishedAtMs })], {})).toEqual({
        'rsa CURRENT': 'CURRENT',
        'rsa NEXT': 'NEXT',
      });
    }
  });

  it.each(['MISSING', 'WRONG', 'UNANSWERED'] as const)('does not switch while the new key is %s', (state) => {
    const settled = next({ publishedAtMs: NOW - propagationMs });
    expect(look([key(), settled], { 'rsa NEXT': state })['rsa CURRENT']).toBe('CURRENT');
  });

  it('restarts the waiting time of a new key that was gone in between, but not when nobody answered', () => {
    const settling = next({ publishedAtMs: NOW - 1 });
    const proof = (state: RecordState) => keysAfterCheck([settling], () => state, NOW)[0]!.publishedAtMs;
    expect([proof('MISSING'), proof('UNANSWERED')]).toEqual([null, NOW - 1]);
  });

  it('switches at once when the record of the current key is gone', () => {
    expect(look([key(), next()], { 'rsa CURRENT': 'MISSING' })['rsa NEXT']).toBe('CURRENT');
    expect(look([key(), next()], { 'rsa CURRENT': 'UNANSWERED' })['rsa NEXT']).toBe('NEXT');
    const other = [key({ algorithm: 'ed25519' }), next({ algorithm: 'ed25519' })];
    expect(look([key(), ...other], { 'rsa CURRENT': 'MISSING' })['ed25519 NEXT']).toBe('NEXT');
  });

  it('switches each algorithm separately', () => {
    const keys = [
      key(),
      next({ publishedAtMs: NOW - propagationMs }),
      key({ algorithm: 'ed25519' }),
      next({ algorithm: 'ed25519' }),
    ];
    expect(look(keys, { 'ed25519 NEXT': 'MISSING' })).toEqual({
      'rsa CURRENT': 'PREVIOUS',
      'rsa NEXT': 'CURRENT',
      'ed25519 CURRENT': 'CURRENT',
      'ed25519 NEXT': 'NEXT',
    });
  });

  it('deletes an old key when its time is over and its record is gone', () => {
    expect(look([key(), previous(NOW - overlapMs)], { 'rsa PREVIOUS': 'MISSING' })).toEqual({
      'rsa CURRENT': 'CURRENT',
    });
    expect(look([key(), previous(NOW - overlapMs)], {})).toHaveProperty(['rsa PREVIOUS']);
    expect(look([key(), previous(NOW - overlapMs + 1)], { 'rsa PREVIOUS': 'MISSING' })).toHaveProperty([
      'rsa PREVIOUS',
    ]);
  });
});

describe('The message about a record', () => {
  it('of an old key says how long it must stay', () => {
    const keepUntil = new Date(NOW);
    expect(stageMessage('PREVIOUS', 'FOUND', keepUntil, NOW - 1)).toContain(
      'Leave the record until 2026-11-21T00:00',
    );
    expect(stageMessage('PREVIOUS', 'MISSING', keepUntil, NOW - 1)).toContain('was removed');
    expect(stageMessage('PREVIOUS', 'FOUND', keepUntil, NOW)).toContain('may be removed');
    expect(stageMessage('CURRENT', 'FOUND', null, NOW)).toBeUndefined();
  });

  it('of a new key says when it signs; the next check is no later', () => {
    expect(stageMessage('NEXT', 'FOUND', null, NOW)).toContain('an hour after');
    expect(propagatedAfterSeconds([key(), next({ publishedAtMs: NOW - 1 })], NOW)).toBe(3_600);
    expect(propagatedAfterSeconds([key(), next()], NOW)).toBeNull();
  });
});
