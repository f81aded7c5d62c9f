import { setTimeout as sleep } from 'node:timers/promises';
import { waitUntil } from '../stack/processes.mjs';
import { post } from './http-load.mjs';
import { median, quantile, shown } from './numbers.mjs';
import { createWebhook } from './tell.mjs';

/** In each of the two workspaces, which makes a hundred: 5 % of all are dead and 5 % slow. */
const HEALTHY_EACH = 45;
/** Nobody listens at that port. */
const REFUSES = 'http://127.0.0.1:1/dead';
/** Of the two workspaces: what is beside the healthy ones. `/dead` never answers, `/slow` after seconds; see receiver-process.mjs. */
const BESIDE = [
  ['/dead/1', '/dead/2', REFUSES, '/slow/1', '/slow/2'],
  ['/dead/3', REFUSES, '/slow/3', '/slow/4', '/slow/5'],
];
const EVENTS_PER_SECOND_EACH = 4;
const WARM_UP_SECONDS = 3;
const TOLD_WITHIN_MS = 30_000;

/** @typedef {{ medianMs: number, p99Ms: number }} Waits from the commit of an event to its arrival at a healthy receiver */
/** @typedef {{ ratio: number, alone: Waits, beside: Waits }} FairRound */

/**
 * Measures how long healthy receivers wait for events alone, and with dead and slow ones beside them, from the first moment on in which
 * nobody knows yet which they are.
 *
 * @param {import('./ground.mjs').Ground} ground
 * @param {{ rounds: number, seconds: number, onRound: (text: string) => void }} options
 * @returns {Promise<FairRound[]>}
 */
export async function measureFair(ground, { rounds, seconds, onRound }) {
  const receiver = await ground.startHelper(new URL('./receiver-process.mjs', import.meta.url));
  const receiverPort = await receiver.ask('listen');
  const gateway = await ground.startApp('gateway');
  const phase = { ground, receiver, receiverPort, port: gateway.port };
  const results = [];
  for (let round = 1; round <= rounds; round += 1) {
    await ground.sweep();
    const apps = await Promise.all([ground.startApp('webhook-dispatcher'), ground.startApp('scheduler')]);
    await subscribe(phase, (n) => Array.from({ length: HEALTHY_EACH }, (_, well) => `/well/${n}/${well}`));
    await warmUp(phase);
    const alone = await waitsOfTheHealthy(phase, seconds);
    await subscribe(phase, (n) => BESIDE[n]);
    const beside = await waitsOfTheHealthy(phase, seconds);
    await Promise.all(apps.map((app) => app.stop()));
    const ratio = beside.p99Ms / alone.p99Ms;
    results.push({ ratio, alone, beside });
    onRound(`round ${round}: ${text(beside)} to ${text(alone)} alone = ${ratio.toFixed(2)}`);
  }
  await Promise.all([gateway.stop(), receiver.stop()]);
  return results;
}

/** A failure, too, is seen for the first time before anything is measured. */
async function warmUp(phase) {
  const { port, ground } = phase;
  const { editorKey } = ground.workspaces[0];
  const id = await createWebhook(port, editorKey, REFUSES);
  await waitsOfTheHealthy(phase, WARM_UP_SECONDS);
  const answer = await fetch(`http://127.0.0.1:${port}/v1/webhooks/${id}`, {
    method: 'DELETE',
    headers: { Authorization: `Bearer ${editorKey}` },
  });
  if (!answer.ok) throw new Error(`a webhook was not deleted: ${await answer.text()}`);
}

/** @param {Waits} waits */
function text({ medianMs, p99Ms }) {
  return `${shown(medianMs)} ms, p99 ${shown(p99Ms)} ms`;
}

async function subscribe({ ground, receiverPort, port }, pathsOf) {
  for (const [n, { editorKey }] of ground.workspaces.entries())
    for (const path of pathsOf(n))
      await createWebhook(port, editorKey, new URL(path, `http://127.0.0.1:${receiverPort}`).href);
}

/** @returns {Promise<Waits>} @throws when a healthy receiver was not told of everything */
async function waitsOfTheHealthy({ ground, receiver, port }, seconds) {
  await receiver.ask('reset');
  const begunAt = Date.now();
  const events = await createContacts(ground, port, seconds);
  const arrivedAtHealthy = async () =>
    (await receiver.ask('arrivals')).filter(({ path }) => path.startsWith('/well'));
  const triggersEvent = async () => (await arrivedAtHealthy()).length >= events * HEALTHY_EACH;
  await waitUntil(triggersEvent, { withinMs: TOLD_WITHIN_MS, what: 'Telling the healthy receivers' });
  const committedAt = await commits(ground, begunAt);
  const waits = (await arrivedAtHealthy()).map(({ at, event }) => at - Number(committedAt.get(event)));
  return { medianMs: median(waits), p99Ms: quantile(waits, 0.99) };
}

let contacts = 0;

/** At a steady pace, whatever becomes of them; in the two workspaces in turn. Says how many. */
async function createContacts(ground, port, seconds) {
  const { workspaces } = ground;
  const count = seconds * EVENTS_PER_SECOND_EACH * workspaces.length;
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

/** When which event was committed, in milliseconds since 1970. @returns {Promise<Map<string, number>>} */
async function commits(ground, since) {
  const rows = await ground.query(
    `SELECT type_id('evt', id) AS id, extract(epoch FROM pg_xact_commit_timestamp(xmin)) * 1000 AS at
     FROM   events
     WHERE  created_at >= to_timestamp($1::float8 / 1000) - interval '1 second'`,
    [since],
  );
  return new Map(rows.map(({ id, at }) => [id, Number(at)]));
}
