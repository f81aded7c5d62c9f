import { expect, it } from '@jest/globals';
import { newId } from '@posthorn/kernel';
import type { CountedEmails } from '@posthorn/database';
import { CountEmails } from './count-emails.ts';

const [workspaceId, other] = [newId('wrk', Date.now()), newId('wrk', Date.now())];
const DAY = new Date('2026-11-21');
const counted = (groupBy: string, of = workspaceId): CountedEmails => ({
  workspaceId: of,
  groupBy,
  firstDay: DAY,
  lastDay: DAY,
});

/** Counts that run until they are finished. */
function scene() {
  const asked: string[] = [];
  const finish: (() => void)[] = [];
  const counts = new CountEmails({
    count: async ({ groupBy }) => {
      asked.push(groupBy!);
      await new Promise<void>((resolve) => finish.push(resolve));
      return [];
    },
    countEngagements: () => Promise.resolve([]),
  });
  return { asked, finish, counts };
}

it('counts nothing for a caller who disconnects while waiting for a turn', async () => {
  const { asked, finish, counts } = scene();
  const gone = new AbortController();
  const running = counts.count(counted('one'));
  const waiting = counts.count(counted('two'), gone.signal);
  gone.abort();
  await expect(waiting).rejects.toMatchObject({ statusCode: 503 });
  for (const end of finish) end();
  await running;
  expect(asked).toEqual(['one']);
});

it('counts for one workspace at once, however many counts of another are waiting', async () => {
  const { asked, finish, counts } = scene();
  const flood = Array.from({ length: 100 }, () => counts.count(counted('flood')).catch(() => undefined));
  const own = counts.count(counted('own', other));
  await new Promise(setImmediate);
  expect(asked).toEqual(['flood', 'own']);
  finish[1]!();
  expect(await own).toEqual({ statuses: [], engagements: [] });
  while (finish.length > 0) {
    finish.shift()!();
    await new Promise(setImmediate);
  }
  await Promise.all(flood);
});
