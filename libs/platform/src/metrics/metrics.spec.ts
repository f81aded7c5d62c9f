import { expect, it } from '@jest/globals';
import { Gauge } from 'prom-client';
import { followFileLimit, metricsText, watchBacklog } from './metrics.ts';

const BACKLOG = { queue: 'email', dueLanes: 1, due: 2, leased: 0, oldestDueSeconds: 3 };
const DUE = /^posthorn_due_rows\{queue="email"\} 2$/m;

it('has the backlog in both of two scrapes at once, and not when it cannot be measured', async () => {
  const limit = Promise.withResolvers<{ max: number }>();
  const secondBacklog = Promise.withResolvers<(typeof BACKLOG)[]>();
  const measure = [
    () => Promise.resolve([BACKLOG]),
    () => secondBacklog.promise,
    () => Promise.reject(new Error('no database')),
  ];
  new Gauge({ name: 'process_max_fds', help: 'Replaced below.' });
  followFileLimit(() => limit.promise);
  watchBacklog(() => measure.shift()!());
  const errors: unknown[] = [];
  const scrape = (): Promise<string> => metricsText((error) => errors.push(error));

  const first = scrape();
  await new Promise(setImmediate);
  const second = scrape();
  limit.resolve({ max: 1_024 });
  expect(await first).toMatch(DUE);
  secondBacklog.resolve([BACKLOG]);
  expect(await second).toMatch(DUE);

  expect(await scrape()).not.toMatch(DUE);
  expect(errors).toEqual([new Error('no database')]);
});
