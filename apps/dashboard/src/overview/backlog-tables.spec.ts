import { expect, it } from '@jest/globals';
import { webhookLane } from '@posthorn/domain';
import { newId } from '@posthorn/kernel';
import { backlogTable, lanesTable } from './backlog-tables.ts';

const NAMES = { nameOf: () => '', webhooks: new Map() };

it.each([
  [{ isPaused: false, isSlow: false }, ''],
  [{ isPaused: false, isSlow: true }, 'slow receiver'],
  [{ isPaused: true, isSlow: true }, 'paused'],
])('a lane with due work, %j, is shown as: %s', (state, shown) => {
  const lane = {
    queue: 'webhook',
    laneId: webhookLane(newId('wh', 0)),
    due: 3,
    oldestDueSeconds: 5,
  } as const;
  expect(lanesTable([{ ...lane, ...state }], NAMES).text).toContain(`<td>${shown}</td>`);
});

it.each([
  [false, '3'],
  [true, '3 or more'],
])(
  'the number of emails to be retried, where not all that waits was read (%s), is shown as: %s',
  (hasMore, shown) => {
    const backlog = { queue: 'email', dueLanes: 0, due: 0, leased: 0, oldestDueSeconds: 0 } as const;
    const { text } = backlogTable([backlog], { byQueue: new Map([['email', 3]]), hasMore });
    expect(/data-label="To be retried">\s*<a href="\/retries">([^<]*)</.exec(text)?.[1]?.trim()).toBe(shown);
  },
);
