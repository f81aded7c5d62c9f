import { readFileSync } from 'node:fs';
import { expect, it } from '@jest/globals';
import { Gauge, register } from 'prom-client';
import { followFileLimit, metricsText, watchBacklog, watchMonthlyLimits } from './metrics.ts';

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

it('has the share of the monthly limits where it is measured, and not when it cannot be', async () => {
  const SHARE = /^posthorn_monthly_limit_used_ratio (.*)$/m;
  const scrape = async (): Promise<string | undefined> => SHARE.exec(await metricsText(() => undefined))?.[1];
  expect(await scrape()).toBeUndefined();
  const measure = [() => Promise.resolve(0.25), () => Promise.reject(new Error('no database'))];
  watchMonthlyLimits(() => measure.shift()!());
  expect(await scrape()).toBe('0.25');
  expect(await scrape()).toBeUndefined();
});

it('has each metric, with its labels, in the table of docs/operations/observing.md', () => {
  const page = readFileSync(new URL('../../../../docs/operations/observing.md', import.meta.url), 'utf8');
  const rows = page.matchAll(/^\| (`posthorn_[^|]*)\|([^|]*)\|/gm);
  const described = [...rows].flatMap(([, names, labels]) =>
    quotedIn(names!).map((name) => [name, quotedIn(labels!)]),
  );
  const declared = register
    .getMetricsAsArray()
    .map((metric) => [metric.name, (metric as unknown as { labelNames: string[] }).labelNames] as const)
    .filter(([name]) => name.startsWith('posthorn_'));
  expect(described.sort()).toEqual(declared.sort());
});

function quotedIn(cell: string): string[] {
  return [...cell.matchAll(/`([^`]+)`/g)].map(([, word]) => word!);
}
