import { setTimeout as sleep } from 'node:timers/promises';
import { loopPace, paceAtSink, untilDrained } from './drain.mjs';
import { jsonRequest, load } from './http-load.mjs';
import { watchMemory } from './memory.mjs';
import { sampleEmail } from './sample-email.mjs';

const BATCH_SIZE = 50;
const BATCHES_AT_ONCE = 8;
/** Accepted long before they are due, as scheduled emails are. */
const SCHEDULED_AHEAD_MS = 60 * 60_000;
/** Long enough to update all rows before that second comes. */
const DUE_IN_SECONDS = 15;
const FOUND_WITHIN_MS = 60_000;
const SLOWEST_PER_SECOND = 200;
const POLL_EVERY_MS = 50;
const LOOP_MAILS = 10_000;

/** @typedef {{ emails: number, foundMs: number, ratio: number, sender: number, loop: number, mib: Record<string, number> }} DueRound */

/**
 * Measures many emails, distributed evenly over many workspaces, that are all due in the same second: how soon the clock has found the last
 * of them, how fast they are sent, and how much memory the processes use meanwhile.
 *
 * @param {import('./environment.mjs').BenchEnvironment} environment
 * @param {{ emails: number, workspaces: number, onRound: (text: string) => void }} options
 * @returns {Promise<DueRound>}
 */
export async function measureDue(environment, { emails, workspaces, onRound }) {
  const loop = await loopPace(environment, LOOP_MAILS);
  await environment.reset();
  await schedule(environment, emails);
  await distribute(environment, workspaces);
  const apps = {
    sender: await environment.startApp('sender'),
    scheduler: await environment.startApp('scheduler'),
  };
  const memory = watchMemory(environment, apps);
  const foundMs = await untilAllFound(environment, await makeDue(environment));
  await untilDrained(environment, emails, (emails * 1_000) / SLOWEST_PER_SECOND);
  const mib = await memory.end();
  await Promise.all(Object.values(apps).map((app) => app.stop()));
  const sender = await paceAtSink(environment, emails, 0);
  const memoryText = Object.entries(mib).map(([name, max]) => `${name} ${Math.round(max)} MiB`);
  onRound(
    `${emails} found after ${Math.round(foundMs)} ms, ${Math.round(sender)}/s, ${memoryText.join(', ')}`,
  );
  return { emails, foundMs, ratio: sender / loop, sender, loop, mib };
}

/** Has this many emails of the first workspace accepted, in batches, each for a different recipient. */
async function schedule(environment, emails) {
  const gateway = await environment.startApp('gateway');
  const [{ key }] = environment.workspaces;
  const sendAt = new Date(Date.now() + SCHEDULED_AHEAD_MS).toISOString();
  let made = 0;
  const next = () => {
    const size = Math.min(BATCH_SIZE, emails - made);
    if (size === 0) return undefined;
    const mails = Array.from({ length: size }, () => ({
      ...sampleEmail(`due-${(made += 1)}@example.net`),
      sendAt,
    }));
    return jsonRequest(gateway.port, key, '/v1/emails/batch', { emails: mails });
  };
  await load({ port: gateway.port, connections: BATCHES_AT_ONCE, next });
  await gateway.stop();
}

/** Creates workspaces and assigns the scheduled emails to them, the same number to each. */
async function distribute(environment, workspaces) {
  await environment.query(
    `WITH dealt AS MATERIALIZED (
       SELECT o.subject_id, row_number() OVER (ORDER BY o.subject_id) % $1 AS place FROM outbox o),
     workspace AS (
       INSERT INTO workspaces (id, name) SELECT new_uuid_v7(now()), 'Due ' || n FROM generate_series(1, $1::int) AS n RETURNING id),
     placed AS MATERIALIZED (
       SELECT id, type_id('wrk', id) || '.bulk' AS lane_id, row_number() OVER (ORDER BY id) - 1 AS place FROM workspace),
     moved AS (
       UPDATE outbox o SET lane_id = p.lane_id FROM dealt d JOIN placed p USING (place) WHERE o.subject_id = d.subject_id)
     UPDATE emails e SET workspace_id = p.id FROM dealt d JOIN placed p USING (place) WHERE e.id = d.subject_id`,
    [workspaces],
  );
}

/** Makes all of them due in the same second; returns that time. */
async function makeDue(environment) {
  const [{ due }] = await environment.query(
    `SELECT date_trunc('second', now() + $1 * interval '1 second') AS due`,
    [DUE_IN_SECONDS],
  );
  await environment.query('UPDATE outbox SET due_at = $1', [due]);
  await environment.query('VACUUM ANALYZE outbox, emails');
  const [{ early }] = await environment.query('SELECT clock_timestamp() < $1 AS early', [due]);
  if (!early) throw new Error('the emails were due before all of them had been updated');
  return due;
}

/** Waits until the clock has found all of them; returns the milliseconds since they were due, by the database's clock. */
async function untilAllFound(environment, due) {
  for (
    const deadline = performance.now() + FOUND_WITHIN_MS;
    performance.now() < deadline;
    await sleep(POLL_EVERY_MS)
  ) {
    const [{ ms, waits }] = await environment.query(
      `SELECT EXISTS (SELECT FROM outbox WHERE state = 'waiting') AS waits,
              extract(epoch FROM clock_timestamp() - $1)::float * 1000 AS ms`,
      [due],
    );
    if (!waits) return ms;
  }
  throw new Error('the clock did not find all emails that were due');
}
