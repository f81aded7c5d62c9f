import { expect, it } from '@jest/globals';
import { newId } from '@posthorn/kernel';
import type { CountedEmails } from '@posthorn/database';
import { CountEmails } from './count-emails.ts';

const workspaceId = newId('wrk', Date.now());
const DAY = new Date('2026-11-21');
const counted = (groupBy: string): CountedEmails => ({ workspaceId, groupBy, firstDay: DAY, lastDay: DAY });

it('counts nothing for a caller who disconnects while waiting for a turn', async () => {
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
  const gone = new AbortController();
  const running = ['one', 'two'].map((name) => counts.count(counted(name)));
  const waiting = counts.count(counted('three'), gone.signal);
  gone.abort();
  await expect(waiting).rejects.toMatchObject({ statusCode: 503 });
  for (const end of finish) end();
  await Promise.all(running);
  expect(asked).toEqual(['one', 'two']);
});
