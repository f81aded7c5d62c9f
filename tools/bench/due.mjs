import { setTimeout as sleep } from 'node:timers/promises';
import { loopPace, paceAtSink, untilDrained } from './drain.mjs';
import { jsonRequest, load } from './http-load.mjs';
import { residentMiB } from './memory.mjs';
import { sentMail } from './sent-mail.mjs';

const BATCH_SIZE = 50;
const BATCHES_AT_ONCE = 8;
/** Accepted long before they are due, as scheduled emails are. */
const SCHEDULED_AHEAD_MS = 60 * 60_000;
/** Time enough to make them all due in the same second before it comes. */
const DUE_IN_SECONDS = 15;
const RIPE_WITHIN_MS = 60_000;
const SLOWEST_PER_SECOND = 200;
const LOOK_EVERY_MS = 50;
const LOOP_MAILS = 10_000;

/** @typedef {{ emails: number, ripeMs: number, ratio: number, sender: number, loop: number, mib: Record<string, number> }} DueRound */

/**
 * Measures what becomes of many emails, dealt out evenly over many workspaces, that are all due in the same second: how soon the clock has
 * found the last of them, how soon all have left, and what the processes hold meanwhile.
 *
 * @param {import('./ground.mjs').Ground} ground
 * @param {{ emails: number, workspaces: number, onRound: (text: string) => void }} options
 * @returns {Promise<DueRound>}
 */
export async function measureDue(ground, { emails, workspaces, onRound }) {
  const loop = await loopPace(ground, LOOP_MAILS);
  await ground.sweep();
  await schedule(ground, emails);
  await dealOut(ground, workspaces);
  const apps = { sender: await ground.startApp('sender'), scheduler: await ground.startApp('scheduler') };
  const memory = watchMemory(ground, apps);
  const ripeMs = await ripen(ground, await makeDue(ground));
  await untilDrained(ground, emails, (emails * 1_000) / SLOWEST_PER_SECOND);
  const mib = await memory.end();
  await Promise.all(Object.values(apps).map((app) => app.stop()));
  const sender = await paceAtSink(ground, emails, 0);
  const held = Object.entries(mib).map(([name, max]) => `${name} ${Math.round(max)} MiB`);
  onRound(`${emails} ripe after ${Math.round(ripeMs)} ms, ${Math.round(sender)}/s, ${held.join(', ')}`);
  return { emails, ripeMs, ratio: sender / loop, sender, loop, mib };
}

/** Has so many emails of the first workspace accepted, in batches, each for a recipient of its own. */
async function schedule(ground, emails) {
  const gateway = await ground.startApp('gateway');
  const [{ key }] = ground.workspaces;
  const sendAt = new Date(Date.now() + SCHEDULED_AHEAD_MS).toISOString();
  let made = 0;
  const next = () => {
    const size = Math.min(BATCH_SIZE, emails - made);
    if (size === 0) return undefined;
    const mails = Array.from({ length: size }, () => ({
      ...sentMail(`due-${(made += 1)}@example.net`),
      sendAt,
    }));
    return jsonRequest(gateway.port, key, '/v1/emails/batch', { emails: mails });
  };
  await load({ port: gateway.port, connections: BATCHES_AT_ONCE, next });
  await gateway.stop();
}

/** Gives the emails that wait to so many workspaces, the same number to each, as if each had sent its own. */
async function dealOut(ground, workspaces) {
  await ground.query(
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

/** Makes all of them due in the same second; gives when that is. */
async function makeDue(ground) {
  const [{ due }] = await ground.query(
    `SELECT date_trunc('second', now() + $1 * interval '1 second') AS due`,
    [DUE_IN_SECONDS],
  );
  await ground.query('UPDATE outbox SET due_at = $1', [due]);
  await ground.query('VACUUM ANALYZE outbox, emails');
  const [{ early }] = await ground.query('SELECT clock_timestamp() < $1 AS early', [due]);
  if (!early) throw new Error('to make the emails due took longer than the time until then');
  return due;
}

/** Milliseconds, by the database's clock, from when they are due until none waits any more. */
async function ripen(ground, due) {
  for (
    const deadline = performance.now() + RIPE_WITHIN_MS;
    performance.now() < deadline;
    await sleep(LOOK_EVERY_MS)
  ) {
    const [{ ms, waits }] = await ground.query(
      `SELECT EXISTS (SELECT FROM outbox WHERE state = 'waiting') AS waits,
              extract(epoch FROM clock_timestamp() - $1)::float * 1000 AS ms`,
      [due],
    );
    if (!waits) return ms;
  }
  throw new Error('the clock did not find all emails that were due');
}

/** Looks at what the apps and Redis hold until it is ended; gives the most of each, in MiB. */
function watchMemory(ground, apps) {
  /** @type {Record<string, number>} */
  const max = {};
  const note = (name, mib) => (max[name] = Math.max(max[name] ?? 0, mib));
  let isEnded = false;
  const looking = (async () => {
    for (; !isEnded; await sleep(LOOK_EVERY_MS * 4)) {
      for (const [name, { pid }] of Object.entries(apps)) note(name, residentMiB(pid));
      note('redis', await ground.redisMiB());
    }
  })();
  const end = async () => {
    isEnded = true;
    await looking;
    return max;
  };
  return { end };
}
