import { describe, expect, it } from '@jest/globals';
import { emailLanes, EVERY_LANE, type LaneId, nowLane, operator } from '@posthorn/domain';
import { newId } from '@posthorn/kernel';
import { openTestStores } from '../open-test-stores.fixture.ts';
import { PausedLaneStore } from '../stores/outbox/paused-lane-store.ts';
import { OverviewStore } from '../stores/operators/overview-store.ts';
import { rawEmail } from '../test-stores.fixture.ts';

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

describe('A pause of the emails of a workspace', () => {
  /** Which of these lanes, each with a due email, are paused for whoever claims, for the clock, and in the overview. */
  async function heldIn(lanes: readonly LaneId[]): Promise<Record<string, LaneId[]>> {
    const ringable = (await stores.outbox.lanesWithReadyRows()).map(({ laneId }) => laneId);
    const busy = await new OverviewStore(stores.database).busiestLanes();
    const claimed = await stores.outbox.claimEmails(
      lanes.map((laneId) => ({ laneId, maxRows: 1 })),
      1e9,
      60_000,
    );
    await stores.outbox.giveBack(claimed);
    return {
      claims: lanes.filter((lane) => !claimed.some(({ laneId }) => laneId === lane)),
      rings: lanes.filter((lane) => !ringable.includes(lane)),
      overview: lanes.filter((lane) => busy.find(({ laneId }) => laneId === lane)!.isPaused),
    };
  }

  it('also holds the retries of its single emails, and nothing is left of it afterwards', async () => {
    await stores.ask('DELETE FROM outbox');
    await stores.ask('DELETE FROM paused_lanes');
    const workspaceId = await stores.openWorkspace();
    const lanes = emailLanes(workspaceId);
    await stores.accept(lanes.map((laneId) => rawEmail(workspaceId, { laneId })));
    const dueEverywhere = async (): Promise<number[]> => [
      await dueLanes(),
      (await stores.outbox.measureBacklog())[0]!.dueLanes,
    ];
    const paused = new PausedLaneStore(stores.database);
    await paused.pauseWorkspace(workspaceId, operator('ada'), 'spam');
    expect(await heldIn(lanes)).toEqual({ claims: lanes, rings: lanes, overview: lanes });
    expect(await dueEverywhere()).toEqual([0, 0]);
    expect(await paused.resumeWorkspace(workspaceId, operator('ada'))).toBe(2);
    expect(await heldIn(lanes)).toEqual({ claims: [], rings: [], overview: [] });
    expect(await dueEverywhere()).toEqual([3, 3]);
  });
});
