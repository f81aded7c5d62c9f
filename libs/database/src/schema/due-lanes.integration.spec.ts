import { describe, expect, it } from '@jest/globals';
import { EVERY_LANE, nowLane } from '@posthorn/domain';
import { newId } from '@posthorn/kernel';
import { openTestStores } from '../open-test-stores.fixture.ts';
import { OverviewStore } from '../stores/operators/overview-store.ts';

const stores = await openTestStores();

async function dueLanes(): Promise<number> {
  const [row] = await stores.ask<{ due: number }>("SELECT due_lanes('email') AS due");
  return row!.due;
}

describe('due_lanes, the metric for scaling workers', () => {
  it('counts lanes with due rows, not the rows, and no lanes of other queues or states', async () => {
    expect(await dueLanes()).toBe(0);
    const [acme, globex] = [await stores.openWorkspace(), await stores.openWorkspace()];
    await stores.acceptEmails(acme, 50);
    await stores.acceptEmails(globex, 1);
    expect(await dueLanes()).toBe(2);
    await stores.claim(globex);
    expect(await dueLanes()).toBe(1);
  });

  it('excludes paused lanes', async () => {
    const lane = nowLane(await stores.openWorkspace());
    const before = await dueLanes();
    await stores.ask(
      "INSERT INTO outbox (subject_id, queue, lane_id, state, due_at) VALUES (gen_random_uuid(), 'email', $1, 'ready', now())",
      [lane],
    );
    expect(await dueLanes()).toBe(before + 1);
    await stores.pause('email', lane);
    expect(await dueLanes()).toBe(before);
    await stores.resume('email', lane);
    await stores.pause('email', EVERY_LANE);
    expect(await dueLanes()).toBe(0);
    await stores.resume('email', EVERY_LANE);
  });

  it('counts a thousand lanes and more', async () => {
    const before = await dueLanes();
    await stores.ask(`
      INSERT INTO outbox (subject_id, queue, lane_id, state, due_at)
      SELECT gen_random_uuid(), 'email', 'lane-' || n % 1500, 'ready', now() FROM generate_series(1, 30000) AS n`);
    await stores.ask('ANALYZE outbox');
    expect(await dueLanes()).toBe(before + 1_500);
    await stores.ask(`DELETE FROM outbox WHERE lane_id LIKE 'lane-%'`);
  });
});

it('What is due behind thousands of paused lanes is counted, and shown first', async () => {
  const before = await dueLanes();
  await stores.ask(`
    INSERT INTO paused_lanes (queue, lane_id, reason) SELECT 'email', 'lane-' || n, 'spam' FROM generate_series(1, 2500) AS n`);
  await stores.ask(`
    INSERT INTO outbox (subject_id, queue, lane_id, state, due_at)
    SELECT gen_random_uuid(), 'email', 'lane-' || n % 2500 + 1, 'ready', now() - interval '3 hours' FROM generate_series(1, 5000) AS n`);
  const lane = nowLane(newId('wrk', Date.now()));
  await stores.ask(
    `INSERT INTO outbox (subject_id, queue, lane_id, state, due_at)
     VALUES (gen_random_uuid(), 'email', $1, 'ready', now() - interval '2 hours')`,
    [lane],
  );
  expect(await dueLanes()).toBe(before + 1);
  const [emails] = await stores.outbox.measureBacklog();
  expect(emails).toMatchObject({ queue: 'email', dueLanes: before + 1 });
  expect(Math.round(emails!.oldestDueSeconds / 60)).toBe(120);
  const shown = await new OverviewStore(stores.database).busiestLanes();
  expect(shown).toContainEqual(expect.objectContaining({ laneId: lane, due: 1, isPaused: false }));
  expect(shown.at(-1)).toMatchObject({ due: 2, isPaused: true });
});
