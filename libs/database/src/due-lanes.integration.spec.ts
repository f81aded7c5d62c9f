import { describe, expect, it } from '@jest/globals';
import { EVERY_LANE, nowLane } from '@posthorn/domain';
import { openOffice } from './open-office.fixture.ts';

const office = await openOffice();

async function dueLanes(): Promise<number> {
  const [row] = await office.ask<{ due: number }>("SELECT due_lanes('email') AS due");
  return row!.due;
}

describe('due_lanes, which workers are scaled by', () => {
  it('counts lanes with due work, not their rows, and none of another queue or state', async () => {
    expect(await dueLanes()).toBe(0);
    const [acme, globex] = [await office.openWorkspace(), await office.openWorkspace()];
    await office.acceptEmails(acme, 50);
    await office.acceptEmails(globex, 1);
    expect(await dueLanes()).toBe(2);
    await office.claim(globex);
    expect(await dueLanes()).toBe(1);
  });

  it('leaves out what is held back', async () => {
    const lane = nowLane(await office.openWorkspace());
    const before = await dueLanes();
    await office.ask(
      "INSERT INTO outbox (subject_id, queue, lane_id, state, due_at) VALUES (gen_random_uuid(), 'email', $1, 'ready', now())",
      [lane],
    );
    expect(await dueLanes()).toBe(before + 1);
    await office.pause('email', lane);
    expect(await dueLanes()).toBe(before);
    await office.resume('email', lane);
    await office.pause('email', EVERY_LANE);
    expect(await dueLanes()).toBe(0);
    await office.resume('email', EVERY_LANE);
  });

  it('stops at a thousand', async () => {
    await office.ask(`
      INSERT INTO outbox (subject_id, queue, lane_id, state, due_at)
      SELECT gen_random_uuid(), 'email', 'lane-' || n % 1500, 'ready', now() FROM generate_series(1, 30000) AS n`);
    await office.ask('ANALYZE outbox');
    expect(await dueLanes()).toBe(1_000);
  });
});
