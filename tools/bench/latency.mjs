import { setTimeout as sleep } from 'node:timers/promises';
import { waitUntil } from '../stack/processes.mjs';
import { fill } from './drain.mjs';
import { emailRequest, load } from './http-load.mjs';
import { median, quantile, shown } from './numbers.mjs';
import { sentMail } from './sent-mail.mjs';

const ARRIVES_WITHIN_MS = 10_000;
const BEGINS_WITHIN_MS = 30_000;
/** Random pauses, so that emails are spread over all phases of the clock's tick and the turns. */
const MAX_PAUSE_MS = 40;

/** @typedef {{ medianMs: number, p99Ms: number }} Latency */

/**
 * Measures how long one email takes from the answer to the relay while nothing else is to do.
 *
 * @param {import('./ground.mjs').Ground} ground
 * @param {{ rounds: number, emails: number, onRound: (text: string) => void }} options
 * @returns {Promise<Latency[]>} a round each
 */
export async function measureIdle(ground, { rounds, emails, onRound }) {
  await ground.sweep();
  const apps = await startApps(ground, ['gateway', 'sender', 'scheduler']);
  const results = [];
  // The first round warms up the JIT compiler.
  for (let round = 0; round <= rounds; round += 1) {
    const latencies = [];
    for (let n = 1; n <= emails; n += 1) {
      const { answeredAt, arrival } = await sendOne(ground, apps[0].port, `idle-${round}-${n}@example.net`);
      latencies.push(arrival.at - answeredAt);
    }
    if (round > 0) results.push(summed(latencies, `round ${round}, idle`, onRound));
  }
  await Promise.all(apps.map((app) => app.stop()));
  return results;
}

/**
 * Measures how long an email of one workspace takes from its commit to the relay while another has a backlog.
 *
 * @param {import('./ground.mjs').Ground} ground
 * @param {{ rounds: number, emails: number, backlog: number, onRound: (text: string) => void }} options
 * @returns {Promise<Latency[]>} a round each
 */
export async function measureLone(ground, { rounds, emails, backlog, onRound }) {
  const [gateway] = await startApps(ground, ['gateway']);
  const results = [];
  for (let round = 1; round <= rounds; round += 1) {
    await ground.sweep();
    await fill(ground, gateway.port, backlog);
    const apps = await startApps(ground, ['sender', 'scheduler']);
    const isDraining = async () => (await ground.sink.ask('count')) >= backlog / 10;
    await waitUntil(isDraining, { withinMs: BEGINS_WITHIN_MS, what: 'Draining' });
    /** @type {Map<string, { wallClock: number }>} */
    const arrivals = new Map();
    for (let n = 1; n <= emails && (await ground.sink.ask('count')) < backlog; n += 1) {
      const to = `lone-${n}@example.net`;
      arrivals.set(to, (await sendOne(ground, gateway.port, to)).arrival);
    }
    await Promise.all(apps.map((app) => app.stop()));
    const what = `round ${round}, beside a backlog, ${arrivals.size} emails`;
    results.push(summed(await sinceCommit(ground, arrivals), what, onRound));
  }
  await gateway.stop();
  return results;
}

function startApps(ground, names) {
  return Promise.all(names.map((name) => ground.startApp(name)));
}

async function sendOne(ground, port, to) {
  await sleep(Math.random() * MAX_PAUSE_MS);
  const requests = [emailRequest(port, ground.workspaces[1].key, sentMail(to))];
  let answeredAt = 0;
  await load({
    port,
    connections: 1,
    next: () => requests.pop(),
    onAnswer: (_ms, endedAt) => (answeredAt = endedAt),
  });
  const tooLong = sleep(ARRIVES_WITHIN_MS, undefined, { ref: false });
  const arrival = await Promise.race([ground.sink.ask('arrivalOf', { to }), tooLong]);
  if (arrival === undefined)
    throw new Error(`an email took longer than ${ARRIVES_WITHIN_MS} ms to the relay`);
  return { answeredAt, arrival };
}

/** The row of a content is never updated, so the transaction that wrote it is the one that accepted the email. */
async function sinceCommit(ground, arrivals) {
  const rows = await ground.query(
    `SELECT e.to_address AS to, extract(epoch FROM pg_xact_commit_timestamp(c.xmin)) * 1000 AS at
     FROM   emails e
     JOIN   email_contents c ON c.email_id = e.id
     WHERE  e.to_address LIKE 'lone-%'`,
  );
  return rows.map(({ to, at }) => arrivals.get(to).wallClock - Number(at));
}

function summed(latencies, what, onRound) {
  if (latencies.length === 0)
    throw new Error(`${what}: the backlog was gone before anything was sent beside it`);
  const latency = { medianMs: median(latencies), p99Ms: quantile(latencies, 0.99) };
  onRound(`${what}: median ${shown(latency.medianMs)} ms, p99 ${shown(latency.p99Ms)} ms`);
  return latency;
}
