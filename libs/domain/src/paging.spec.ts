import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { newId } from '@posthorn/kernel';
import { type Page, pageByTime, pageOf, parseOpaqueStart, parseTimeStart, SORTS } from './paging.ts';

interface Item {
  readonly id: ReturnType<typeof newId<'aki'>>;
  readonly createdAt: Date;
}

const item = (atMs: number): Item => ({ id: newId('aki', atMs), createdAt: new Date(atMs) });

describe('G10: a list by time', () => {
  it('returns each item once, in order, in pages of the limit, and never splits a millisecond over two pages', () => {
    fc.assert(
      fc.property(
        fc.array(fc.integer({ min: 0, max: 12 }), { maxLength: 40 }),
        fc.integer({ min: 1, max: 9 }),
        fc.constantFrom(...SORTS),
        (times, limit, sort) => {
          const all = times.map((time) => item(1_700_000_000_000 + time));
          const pages: Page<Item>[] = [];
          for (let startAt: number | undefined, more = true; more;) {
            const page = pageByTime(all, { limit, sort, startAt });
            pages.push(page);
            more = page.hasMore;
            expect(page.startAt === null).toBe(!more);
            const beyondLimit = page.items.slice(limit - 1).map(({ createdAt }) => createdAt.getTime());
            expect(new Set(beyondLimit).size).toBeLessThanOrEqual(1);
            if (more) expect(page.items.length).toBeGreaterThanOrEqual(limit);
            if (more) startAt = parseTimeStart(page.startAt!);
          }
          // Ids are in the order of their times.
          const inOrder = all.map(({ id }) => id).sort();
          if (sort === 'createdAt.desc') inOrder.reverse();
          expect(pages.flatMap((page) => page.items).map(({ id }) => id)).toEqual(inOrder);
          pages.slice(1).forEach((page, index) => {
            const last = pages[index]!.items.at(-1)!;
            expect(page.items[0]!.createdAt).not.toEqual(last.createdAt);
          });
        },
      ),
    );
  });
});

describe('G10: a list by id', () => {
  it('starts the next page with the extra item that was read', () => {
    const read = [3, 2, 1].map((atMs) => item(atMs));
    const page = pageOf(read, 2);
    expect(page.items).toEqual(read.slice(0, 2));
    expect(page.hasMore).toBe(true);
    expect(parseOpaqueStart('aki', page.startAt!)).toBe(read[2]!.id);
    expect(pageOf(read, 3)).toMatchObject({ hasMore: false, startAt: null });
  });

  it.each(['', 'x', 'aki_01h455vb4pex5vsknk084sn02q', '2026-01-01T00:00:00Z'])(
    'does not begin at %j',
    (text) => {
      expect(parseOpaqueStart('aki', text)).toBeUndefined();
    },
  );
});
