import { expect, it } from '@jest/globals';
import type { ClaimedDomain } from '@posthorn/database';
import { CheckDueDomains } from './check-due-domains.ts';

const A_GROUP = 50;

/** Runs over groups of due domains of these sizes; the check of every domain in `failing` fails. */
async function run(sizes: number[], withinMs: number, failing: readonly number[] = []) {
  let next = 0;
  const errors: string[] = [];
  const domains = (count: number): ClaimedDomain[] =>
    Array.from({ length: count }, () => ({ value: String((next += 1)) }) as ClaimedDomain);
  const checking = new CheckDueDomains({
    checks: { claimDue: () => Promise.resolve(domains(sizes.shift()!)) },
    checkDomain: {
      check: ({ value }) =>
        failing.includes(Number(value)) ? Promise.reject(new Error(value)) : Promise.resolve(true),
    },
    onError: ({ message }) => errors.push(message),
  });
  return { looked: await checking.run(withinMs), groupsLeft: sizes.length, errors };
}

it('Domains are checked group by group until fewer are due, or time is up', async () => {
  expect(await run([A_GROUP, A_GROUP, 3, 1], 60_000)).toEqual({ looked: 103, groupsLeft: 1, errors: [] });
  expect(await run([A_GROUP, 1], -1)).toMatchObject({ looked: A_GROUP, groupsLeft: 1 });
});

it('A check that fails is reported, and keeps no others from being checked', async () => {
  expect(await run([A_GROUP, 2], 60_000, [2, 51])).toEqual({
    looked: 52,
    groupsLeft: 0,
    errors: ['2', '51'],
  });
});
