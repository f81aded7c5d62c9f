import { expect, it } from '@jest/globals';
import { webhookLane } from '@posthorn/domain';
import { newId } from '@posthorn/kernel';
import { lanesTable } from './backlog-tables.ts';

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
  expect(lanesTable([{ ...lane, ...state }], () => '').text).toContain(`<td>${shown}</td>`);
});
