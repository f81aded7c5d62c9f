import { setTimeout as sleep } from 'node:timers/promises';
import { waitUntil } from '../stack/processes.mjs';
import { fill } from './drain.mjs';
import { emailRequest, load } from './http-load.mjs';
import { latencyOf, latencyText } from './numbers.mjs';
import { sampleEmail } from './sample-email.mjs';

const ARRIVES_WITHIN_MS = 10_000;
const DRAINING_WITHIN_MS = 30_000;
/** Random pauses, so that emails are spread over all phases of the clock's tick and the turns. */
const MAX_PAUSE_MS = 40;

/** @typedef {import('./numbers.mjs').Latency} Latency */

/**
 * Measures the time from the gateway's answer to the arrival at the relay, one email at a time, while there is no other work.
 *
 * @param {import('./environment.mjs').BenchEnvironment} environment
 * @param {{ rounds: number, emails: number, onRound: (text: string) => void }} options
 * @returns {Promise<Latency[]>} a round each
 */
export async function measureIdle(environment, { rounds, emails, onRound }) {
  await environment.reset();
  const apps = await startApps(environment, ['gateway', 'sender', 'scheduler']);
  const results = [];
  // The first round warms up the JIT compiler.
  for (let round = 0; round <= rounds; round += 1) {
    const latencies = [];
    for (let n = 1; n <= emails; n += 1) {
      const { answeredAt, arrival } = await sendOne(
        environment,
        apps[0].port,
        `idle-${round}-${n}@example.net`,
      );
      latencies.push(arrival.at - answeredAt);
    }
    if (round > 0) results.push(summarise(latencies, `round ${round}, idle`, onRound));
  }
  await Promise.all(apps.map((app) => app.stop()));
  return results;
}

/**
 * Measures the time from the commit of an email to its arrival at the relay while another workspace has a backlog.
 *
 * @param {import('./environment.mjs').BenchEnvironment} environment
 * @param {{ rounds: number, emails: number, backlog: number, onRound: (text: string) => void }} options
 * @returns {Promise<Latency[]>} a round each
 */
export async function measureLone(environment, { rounds, emails, backlog, onRound }) {
  const [gateway] = await startApps(environment, ['gateway']);
  const results = [];
  for (let round = 1; round <= rounds; round += 1) {
    await environment.reset();
    await fill(environment, gateway.port, backlog);
    const apps = await startApps(environment, ['sender', 'scheduler']);
    const isDraining = async () => (await environment.sink.ask('count')) >= backlog / 10;
    await waitUntil(isDraining, { withinMs: DRAINING_WITHIN_MS, what: 'Draining' });
    /** @type {Map<string, { wallClock: number }>} */
    const arrivals = new Map();
    for (let n = 1; n <= emails && (await environment.sink.ask('count')) < backlog; n += 1) {
      const to = `lone-${n}@example.net`;
      arrivals.set(to, (await sendOne(environment, gateway.port, to)).arrival);
    }
    await Promise.all(apps.map((app) => app.stop()));
    const what = `round ${round}, during a backlog, ${arrivals.size} emails`;
    results.push(summarise(await sinceCommit(environment, arrivals), what, onRound));
  }
  await gateway.stop();
  return results;
}

function startApps(environment, names) {
  return Promise.all(names.map((name) => environment.startApp(name)));
}

async function sendOne(environment, port, to) {
  await sleep(Math.random() * MAX_PAUSE_MS);
  const requests = [emailRequest(port, environment.workspaces[1].key, sampleEmail(to))];
  let answeredAt = 0;
  await load({
    port,
    connections: 1,
    next: () => requests.pop(),
    onAnswer: (_ms, endedAt) => (answeredAt = endedAt),
  });
  const tooLong = sleep(ARRIVES_WITHIN_MS, undefined, { ref: false });
  const arrival = await Promise.race([environment.sink.ask('arrivalOf', { to }), tooLong]);
  if (arrival === undefined)
    throw new Error(`an email took longer than ${ARRIVES_WITHIN_MS} ms to the relay`);
  return { answeredAt, arrival };
}

/** The commit time is that of `email_contents`: its rows are never updated, so `xmin` is the transaction that accepted the email. */
async function sinceCommit(environment, arrivals) {
  const rows = await environment.query(
    `SELECT e.to_address AS to, extract(epoch FROM pg_xact_commit_timestamp(c.xmin)) * 1000 AS at
     FROM   emails e
     JOIN   email_contents c ON c.email_id = e.id
     WHERE  e.to_address LIKE 'lone-%'`,
  );
  return rows.map(({ to, at }) => arrivals.get(to).wallClock - Number(at));
}

function summarise(latencies, what, onRound) {
  if (latencies.length === 0) throw new Error(`${what}: the backlog was gone before anything else was sent`);
  const latency = latencyOf(latencies);
  onRound(`${what}: median ${latencyText([latency])}`);
  return latency;
}
