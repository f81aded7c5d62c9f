import { describe, expect, it } from '@jest/globals';
import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import { idFromUuid, leastUuid, newId, newUuid, parseId, RELEASE, timeOf, uuidOf } from './index.ts';

describe('G8: ids', () => {
  it('are TypeIDs: the examples of its specification read the same', () => {
    expect(idFromUuid('prefix', '01890a5d-ac96-774b-bcce-b302099a8057')).toBe(
      'prefix_01h455vb4pex5vsknk084sn02q',
    );
    expect(idFromUuid('prefix', '00000000-0000-0000-0000-000000000000')).toBe(
      'prefix_00000000000000000000000000',
    );
    expect(idFromUuid('prefix', 'ffffffff-ffff-ffff-ffff-ffffffffffff')).toBe(
      'prefix_7zzzzzzzzzzzzzzzzzzzzzzzzz',
    );
  });

  it('go there and back', () => {
    fc.assert(
      fc.property(fc.uuid(), fc.uuid(), (...uuids) => {
        const ids = uuids.map((uuid) => idFromUuid('trs', uuid));
        expect(ids.map(uuidOf)).toEqual(uuids);
      }),
    );
  });

  it('are UUIDv7 that carry their time, and are in the order of their times', () => {
    const at = Date.UTC(2026, 10, 21, 12);
    const uuid = newUuid(at);
    expect(uuid).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
    expect(timeOf(newId('trs', at))).toBe(at);
    expect(newId('trs', at) < newId('trs', at + 1)).toBe(true);
  });

  it.each([0, 0.25, 0.999])(
    'are in the order in which they are made, 2,000 in the millisecond of a time (%d)',
    (part) => {
      const at = Date.UTC(2026, 10, 21, 12) + part;
      const ids = Array.from({ length: 2_000 }, () => newUuid(at));
      expect(ids).toEqual(ids.toSorted());
      expect(ids.every((id) => timeOf(idFromUuid('trs', id)) === Math.trunc(at))).toBe(true);
      expect(newUuid(at + 1) > ids.at(-1)!).toBe(true);
    },
  );

  it('are in the order of the parts of a millisecond, in different processes too', () => {
    const parts = [0.999, 0.5, 0.25, 0.001, 0];
    // After an id of another millisecond, nothing is known of the earlier ones of this one, as in another process.
    const lastFirst = parts.map((part) => [newUuid(5_000 + part), newUuid(0)][0]!);
    expect(lastFirst.toReversed()).toEqual(lastFirst.toSorted());
  });

  it.each([0, 1, Date.UTC(2026, 10, 21, 12), Date.UTC(9999, 11, 31)])(
    'of the time %d are from the least one on, and those of earlier times are before it',
    (at) => {
      const min = leastUuid(at);
      expect(timeOf(idFromUuid('trs', min))).toBe(at);
      expect([min <= newUuid(at), min > newUuid(at - 1) || at === 0]).toEqual([true, true]);
    },
  );

  it('do not repeat', () => {
    const ids = new Set(Array.from({ length: 10_000 }, () => newUuid(1_000)));
    expect(ids.size).toBe(10_000);
  });

  it.each([
    ['another prefix', 'wrk_01h455vb4pex5vsknk084sn02q'],
    ['no prefix', '01h455vb4pex5vsknk084sn02q'],
    ['more than 128 bits', 'trs_8zzzzzzzzzzzzzzzzzzzzzzzzz'],
    ['a letter that is not in the alphabet', 'trs_01h455vb4pex5vsknk084sn0uq'],
    ['capitals', 'trs_01H455VB4PEX5VSKNK084SN02Q'],
    ['too few characters', 'trs_01h455vb4pex5vsknk084sn02'],
    ['too many characters', 'trs_101h455vb4pex5vsknk084sn02q'],
    ['a line break at the end', 'trs_01h455vb4pex5vsknk084sn02q\n'],
    ['nothing', ''],
  ])('are refused with %s', (_what, text) => {
    expect(parseId('trs', text)).toBeUndefined();
  });
});

it('RELEASE is the version of the package', () => {
  const { version } = JSON.parse(readFileSync('package.json', 'utf8')) as { version: string };
  expect(RELEASE).toBe(version);
});
