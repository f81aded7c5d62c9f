import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { QUEUES } from '@posthorn/queues';
import { type AppUnderTest, testRedisUrl, uniqueQueuePrefix } from '@posthorn/testing';
import { Queue } from 'bullmq';
import { Redis } from 'ioredis';
import { type DashboardVisitor, HOSTILE, openDashboard } from './dashboard-visitor.ts';
import { Stack } from './stack.ts';

const MEGABYTE = 1024 * 1024;
const BOARD = `/queues/api/queues?activeQueue=${QUEUES.emailTurns}`;

const prefix = uniqueQueuePrefix();
let redis: Redis;
let queue: Queue;
let dashboard: AppUnderTest;
let ada: DashboardVisitor;
let vera: DashboardVisitor;

const stack = Stack.forTests({ sends: false, env: { QUEUE_PREFIX: prefix } });
beforeAll(async () => {
  ({ dashboard, ada, vera } = await openDashboard(stack));
  redis = new Redis(testRedisUrl(), { maxRetriesPerRequest: null });
  queue = new Queue(QUEUES.emailTurns, { connection: redis, prefix, skipMetasUpdate: true });
});
afterAll(async () => {
  await queue.close();
  redis.disconnect();
});

/** Adds a ring whose job has a foreign value in a field. */
async function addJob(jobId: string, fields: Record<string, string> = {}): Promise<void> {
  await queue.add('email.turn', { v: 1 }, { jobId });
  if (Object.keys(fields).length > 0) await redis.hset(queue.toKey(jobId), fields);
}

/** All keys of the queues in Redis, with their contents. */
async function held(): Promise<Record<string, string>> {
  const keys = (await redis.keys(`${prefix}:*`)).filter((key) => !key.includes('{rates}')).sort();
  const dumps = await Promise.all(keys.map(async (key) => (await redis.dumpBuffer(key)).toString('base64')));
  return Object.fromEntries(keys.map((key, index) => [key, dumps[index]!]));
}

const jobPath = (id: string): string => `/queues/api/queues/${QUEUES.emailTurns}/${encodeURIComponent(id)}`;

describe('The queues on the dashboard', () => {
  it('show the data of a job as text that no browser executes', async () => {
    await addJob(`x${HOSTILE}`, { name: HOSTILE, data: JSON.stringify({ x: HOSTILE }) });
    for (const path of [BOARD, jobPath(`x${HOSTILE}`)]) {
      const { status, headers, text } = await vera.get(path);
      expect([status, headers.get('content-type')]).toEqual([200, 'application/json; charset=utf-8']);
      expect(text).toContain(JSON.stringify(HOSTILE));
    }
    const page = await vera.get(
      `/queues/queue/${encodeURIComponent(HOSTILE)}/${encodeURIComponent(HOSTILE)}`,
    );
    expect([page.status, page.text.includes('alert(1)')]).toEqual([200, false]);
    await queue.drain();
  });

  it('cannot be changed by a viewer with any method or override', async () => {
    await addJob('a');
    const before = await held();
    const ways = ['', '/clean', '/retry', '/promote', '/update-data', '/delay'].map(
      (way) => jobPath('a') + way,
    );
    const ofQueue = ['pause', 'empty', 'obliterate', 'add', 'clean/waiting', 'promote'].map((way) =>
      jobPath(way),
    );
    const statuses = new Set<number>();
    for (const path of [...ways, ...ofQueue])
      for (const spelled of [path, `${path}/`, path.toUpperCase(), path.replace('/api', '/%61pi')])
        for (const method of ['POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']) {
          const answer = await fetch(dashboard.url + spelled, {
            method,
            headers: {
              'Cookie': vera.cookie,
              'Sec-Fetch-Site': 'same-origin',
              'Content-Type': 'application/json',
            },
            body: '{"data":{},"delay":0,"name":"x"}',
          });
          statuses.add(answer.status);
        }
    for (const path of [...ways, ...ofQueue])
      await fetch(`${dashboard.url}${path}?_method=PUT`, {
        headers: { 'Cookie': vera.cookie, 'X-HTTP-Method-Override': 'PUT' },
      });
    expect([[...statuses], await held()]).toEqual([[403], before]);
    await queue.drain();
  });

  it.each([
    ['takes 50 MB', { data: JSON.stringify({ x: 'x'.repeat(50 * MEGABYTE) }) }, 'bytes of Redis'],
    ['fails with a long reason', { failedReason: 'x'.repeat(MEGABYTE) }, 'bytes of Redis'],
    ['holds broken JSON', { data: '{broken' }, 'not valid JSON'],
    ['has broken options', { opts: '{broken' }, 'not valid JSON'],
  ])('do not parse a job that %s, but show its id, and can still be emptied', async (_what, fields, why) => {
    await addJob('odd', fields);
    for (const path of [BOARD, jobPath('odd'), `${jobPath('odd')}/flow`]) {
      const { status, text } = await vera.get(path);
      expect([path, status]).toEqual([path, 403]);
      expect((JSON.parse(text) as { message: string }).message).toMatch(
        new RegExp(`${queue.toKey('odd')} .*${why}.*empty the queue`),
      );
    }
    // The page polls all queues.
    expect((await vera.get('/queues/api/queues')).status).toBe(200);
    const emptied = await fetch(`${dashboard.url}/queues/api/queues/${QUEUES.emailTurns}/empty`, {
      method: 'PUT',
      headers: { 'Cookie': ada.cookie, 'Sec-Fetch-Site': 'same-origin' },
    });
    expect(emptied.status).toBe(200);
    expect((await vera.get(BOARD)).status).toBe(200);
  });

  it('show at most a hundred jobs of a status at once, however many are requested', async () => {
    await queue.addBulk(Array.from({ length: 150 }, () => ({ name: 'email.turn', data: { v: 1 } })));
    const { text } = await vera.get(`${BOARD}&status=waiting&jobsPerPage=1000000000`);
    const { queues } = JSON.parse(text) as { queues: { name: string; jobs: unknown[] }[] };
    expect(queues.find(({ name }) => name === QUEUES.emailTurns)!.jobs).toHaveLength(100);
    await queue.drain();
  });
});
