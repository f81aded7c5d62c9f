import { setTimeout as sleep } from 'node:timers/promises';
import { waitUntil } from '../stack/processes.mjs';
import { post } from './http-load.mjs';
import { latencyOf, latencyText } from './numbers.mjs';
import { createWebhook } from './tell.mjs';

/** Per workspace. With UNHEALTHY this makes a hundred webhooks, of which 5 are dead and 5 slow. */
const HEALTHY_PER_WORKSPACE = 45;
/** Nothing listens on this port, so connections are refused. */
const REFUSED = 'http://127.0.0.1:1/dead';
/** The unhealthy webhooks of each workspace. `/dead` never answers, `/slow` after seconds; see receiver-process.mjs. */
const UNHEALTHY = [
  ['/dead/1', '/dead/2', REFUSED, '/slow/1', '/slow/2'],
  ['/dead/3', REFUSED, '/slow/3', '/slow/4', '/slow/5'],
];
const EVENTS_PER_SECOND_PER_WORKSPACE = 4;
const WARM_UP_SECONDS = 3;
const DELIVERED_WITHIN_MS = 30_000;

/** @typedef {import('./numbers.mjs').Latency} Waits from the commit of an event to its arrival at a healthy receiver */
/** @typedef {{ ratio: number, alone: Waits, mixed: Waits }} FairRound */

/**
 * Measures how long healthy receivers wait for events, first alone and then together with dead and slow ones. Measuring starts at once, while
 * the dispatcher does not know yet which ones are unhealthy.
 *
 * @param {import('./environment.mjs').BenchEnvironment} environment
 * @param {{ rounds: number, seconds: number, onRound: (text: string) => void }} options
 * @returns {Promise<FairRound[]>}
 */
export async function measureFair(environment, { rounds, seconds, onRound }) {
  const receiver = await environment.startBenchProcess(new URL('./receiver-process.mjs', import.meta.url));
  const receiverPort = await receiver.ask('listen');
  const gateway = await environment.startApp('gateway');
  const phase = { environment, receiver, receiverPort, port: gateway.port };
  const results = [];
  for (let round = 1; round <= rounds; round += 1) {
    await environment.reset();
    const apps = await Promise.all([
      environment.startApp('webhook-dispatcher'),
      environment.startApp('scheduler'),
    ]);
    await subscribe(phase, (n) =>
      Array.from({ length: HEALTHY_PER_WORKSPACE }, (_, index) => `/healthy/${n}/${index}`),
    );
    await warmUp(phase);
    const alone = await waitsOfTheHealthy(phase, seconds);
    await subscribe(phase, (n) => UNHEALTHY[n]);
    const mixed = await waitsOfTheHealthy(phase, seconds);
    await Promise.all(apps.map((app) => app.stop()));
    const ratio = mixed.p99Ms / alone.p99Ms;
    results.push({ ratio, alone, mixed });
    onRound(`round ${round}: ${latencyText([mixed])} to ${latencyText([alone])} alone = ${ratio.toFixed(2)}`);
  }
  await Promise.all([gateway.stop(), receiver.stop()]);
  return results;
}

/** One of the webhooks refuses, so that the code that handles failures is warm, too. */
async function warmUp(phase) {
  const { port, environment } = phase;
  const { editorKey } = environment.workspaces[0];
  const id = await createWebhook(port, editorKey, REFUSED);
  await waitsOfTheHealthy(phase, WARM_UP_SECONDS);
  const answer = await fetch(`http://127.0.0.1:${port}/v1/webhooks/${id}`, {
    method: 'DELETE',
    headers: { Authorization: `Bearer ${editorKey}` },
  });
  if (!answer.ok) throw new Error(`a webhook was not deleted: ${await answer.text()}`);
}

async function subscribe({ environment, receiverPort, port }, pathsOf) {
  for (const [n, { editorKey }] of environment.workspaces.entries())
    for (const path of pathsOf(n))
      await createWebhook(port, editorKey, new URL(path, `http://127.0.0.1:${receiverPort}`).href);
}

/** @returns {Promise<Waits>} @throws when a healthy receiver did not get every event */
async function waitsOfTheHealthy({ environment, receiver, port }, seconds) {
  await receiver.ask('reset');
  const begunAt = Date.now();
  const events = await createContacts(environment, port, seconds);
  const arrivedAtHealthy = async () =>
    (await receiver.ask('arrivals')).filter(({ path }) => path.startsWith('/healthy'));
  const isDelivered = async () => (await arrivedAtHealthy()).length >= events * HEALTHY_PER_WORKSPACE;
  await waitUntil(isDelivered, {
    withinMs: DELIVERED_WITHIN_MS,
    what: 'Delivering to the healthy receivers',
  });
  const committedAt = await commits(environment, begunAt);
  const waits = (await arrivedAtHealthy()).map(({ at, event }) => at - Number(committedAt.get(event)));
  return latencyOf(waits);
}

let contacts = 0;

/** At a steady rate, without waiting for answers, in the two workspaces alternately. @returns {Promise<number>} how many */
async function createContacts(environment, port, seconds) {
  const { workspaces } = environment;
  const count = seconds * EVENTS_PER_SECOND_PER_WORKSPACE * workspaces.length;
  const begunAt = performance.now();
  const answers = [];
  for (let n = 0; n < count; n += 1) {
    await sleep(Math.max(0, begunAt + (n / count) * seconds * 1_000 - performance.now()));
    contacts += 1;
    const { editorKey } = workspaces[n % workspaces.length];
    answers.push(post(port, editorKey, '/v1/contacts', { email: `contact-${contacts}@example.net` }));
  }
  await Promise.all(answers);
  return count;
}

/** The commit time of each event, in milliseconds since 1970. @returns {Promise<Map<string, number>>} */
async function commits(environment, since) {
  const rows = await environment.query(
    `SELECT type_id('evt', id) AS id, extract(epoch FROM pg_xact_commit_timestamp(xmin)) * 1000 AS at
     FROM   events
     WHERE  created_at >= to_timestamp($1::float8 / 1000) - interval '1 second'`,
    [since],
  );
  return new Map(rows.map(({ id, at }) => [id, Number(at)]));
}
